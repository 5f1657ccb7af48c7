/// Names of tables, columns and indexes for models and fields of any name (contract E6).
enum PostgresNaming {
  /// The longest name, in bytes: the server cuts longer ones, so that they collide.
  private static let longest = 63
  /// Space for a number behind a name.
  private static let longestBase = 50

  /// The columns that every table has.
  static let systemColumns: Set<String> = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]

  /// An unused name, which is added to the taken ones: the wanted one if the server accepts it and it is unused, otherwise
  /// one made of its ASCII letters and digits.
  static func free(_ wanted: String, fallback: String, taken: inout Set<String>) -> String {
    let base = base(of: wanted, fallback: fallback)
    var name = base
    var number = 2
    // By bytes: the server's names are equal only then, but Swift's are if they are canonically equivalent.
    while !taken.insert(key(name)).inserted {
      name = "\(base)_\(number)"
      number += 1
    }
    return name
  }

  /// The name that is made of a wanted one if nothing else has it; otherwise a number follows, as in `base_2`.
  static func base(of wanted: String, fallback: String) -> String {
    isPlain(wanted) ? wanted : replacement(for: wanted, fallback)
  }

  /// A name as an element of a set that compares bytes.
  static func key(_ name: String) -> String {
    name.utf8.allSatisfy { $0 < 128 } ? name : name.unicodeScalars.map { "\($0.value)," }.joined()
  }

  private static func isPlain(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= longestBase && !name.utf8.contains { $0 < 32 || $0 == 127 }
      // Statements give this name to the record that collides with a stored one.
      && name != "excluded"
      && !name.utf8.starts(with: "pg_".utf8) && !name.utf8.starts(with: "persistence_".utf8)
  }

  private static func replacement(for name: String, _ fallback: String) -> String {
    let harmless = name.utf8.prefix(longestBase - 20).filter {
      (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 95
    }
    return harmless.isEmpty ? fallback : "\(fallback)_\(String(decoding: harmless, as: UTF8.self))"
  }
}
