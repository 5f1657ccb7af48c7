/// Names in the file: what a model or field is called there, whatever its own name (contract E6).
enum SQLiteNaming {
  /// How long a name may be before it is replaced; SQLite itself sets no limit.
  private static let longest = 100

  /// A name that is free: the wanted one where SQLite can hold it and it is not taken, otherwise one made of
  /// what is harmless in it.
  ///
  /// - Parameters:
  ///   - wanted: The model's or field's own name.
  ///   - fallback: What the name begins with where nothing of the wanted one is harmless.
  ///   - taken: The names that exist, ``folded(_:)``; the new one is added.
  /// - Returns: A name that no other is equal to, as SQLite compares them.
  static func free(_ wanted: String, fallback: String, taken: inout Set<String>) -> String {
    let base = isPlain(wanted) ? wanted : replacement(for: wanted, fallback)
    var name = base
    var number = 2
    while !taken.insert(folded(name)).inserted {
      name = "\(base)_\(number)"
      number += 1
    }
    return name
  }

  /// The name as SQLite compares names: A to Z as a to z, everything else by its bytes.
  static func folded(_ name: String) -> String {
    String(decoding: name.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }

  /// A name for a row's number that no column has taken.
  static func rowNumber(besides columns: [String]) -> String? {
    let taken = Set(columns.map(folded))
    return ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
  }

  private static func isPlain(_ name: String) -> Bool {
    let folded = folded(name)
    return !name.isEmpty && name.utf8.count <= longest && !name.utf8.contains { $0 < 32 || $0 == 127 }
      && !folded.utf8.starts(with: "sqlite_".utf8) && !folded.utf8.starts(with: "persistence_".utf8)
  }

  private static func replacement(for name: String, _ fallback: String) -> String {
    let harmless = name.utf8.prefix(40).filter {
      (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 95
    }
    return harmless.isEmpty ? fallback : "\(fallback)_\(String(decoding: harmless, as: UTF8.self))"
  }
}
