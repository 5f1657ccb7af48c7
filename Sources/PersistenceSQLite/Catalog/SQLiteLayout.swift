import Foundation
import PersistenceDriver
import PersistencePrimitives

/// The table and columns of a model that this package defined; the catalog table stores it as JSON.
struct SQLiteLayout: Encodable {
  /// The format of a model that keeps the schema it was defined with.
  static let definedFormat = 1
  /// The format of a model whose schema has changed: columns may have other names than fields, and defaults.
  static let evolvedFormat = 2
  /// The format of a model in a clustered table, whether it has changed or not.
  ///
  /// Versions of the package that read formats up to 2 would look for row IDs; they throw `unsupported` instead.
  static let clusteredFormat = 3

  var format = definedFormat
  var schema: ModelSchema
  var table: String
  /// The columns' names, in the order of the schema's fields.
  var columns: [String]
  /// Whether indexes are still to be built; nil once all exist.
  private var awaitsIndexes: Bool?
  /// The positions of these indexes in the schema; nil if none exists.
  private var awaited: [Int]?

  init(schema: ModelSchema, table: String, columns: [String], awaitsIndexes: Bool = false) {
    self.schema = schema
    self.table = table
    self.columns = columns
    self.awaitsIndexes = awaitsIndexes ? true : nil
  }

  /// Whether no index is built, because the model was defined without its indexes.
  var awaitsAllIndexes: Bool { awaitsIndexes == true && awaited == nil }

  /// The positions of the indexes that are still to be built, ascending.
  var unbuilt: [Int] {
    get { awaitsIndexes == true ? awaited ?? Array(schema.indexes.indices) : [] }
    set {
      awaitsIndexes = newValue.isEmpty ? nil : true
      awaited = newValue.isEmpty ? nil : newValue
    }
  }

  /// The indexes that are still to be built.
  var unbuiltIndexes: [IndexSchema] { unbuilt.map { schema.indexes[$0] } }

  /// Reads a layout; throws ``PersistenceError/Code/unsupported`` for another format.
  init(_ text: String) throws {
    let entry = try JSONParser.parse(text)
    let format = try entry.required("format").integer()
    let schema = try entry.required("schema")
    guard (Self.definedFormat...Self.clusteredFormat).contains(format) else {
      let name = (try? schema.required("name").text()) ?? "a model"
      throw PersistenceError(
        .unsupported,
        "\(name) was written in format \(format), but this version of the package reads formats up to "
          + "\(Self.clusteredFormat); use a newer version")
    }
    self.init(
      schema: try ModelSchema(json: schema), table: try entry.required("table").text(),
      columns: try entry.required("columns").elements().map { try $0.text() },
      awaitsIndexes: entry.member("awaitsIndexes").map(Self.isTrue) ?? false)
    self.format = format
    guard let list = entry.member("awaited") else { return }
    let positions = try list.elements().map { try $0.integer() }
    guard positions.allSatisfy(self.schema.indexes.indices.contains) else {
      throw PersistenceError.damaged("\(self.schema.name) awaits an index that it does not have")
    }
    awaited = positions
  }

  private static func isTrue(_ value: JSONValue) -> Bool {
    if case .bool(true) = value { true } else { false }
  }

  func encoded() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}

/// Names of tables, columns and indexes for models and fields of any name (contract E6).
enum SQLiteNaming {
  /// The longest name, in bytes, that is not replaced; SQLite itself sets no limit.
  private static let longest = 100

  /// An unused name, which is added to the ``folded(_:)`` ones: the wanted one if SQLite accepts it and it is unused,
  /// otherwise one made of its ASCII letters and digits.
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

  /// The name as SQLite compares names: ASCII letters in lower case, everything else byte by byte.
  static func folded(_ name: String) -> String {
    String(decoding: name.utf8.map(lowered), as: UTF8.self)
  }

  private static func lowered(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }

  /// A name for the row ID that no column uses.
  static func rowID(besides columns: [String]) -> String? {
    let taken = Set(columns.map(folded))
    return ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
  }

  /// A name of the row ID that the definition of a table does not mention; empty where it mentions all.
  ///
  /// A column hides the row ID's name that it has, whatever the case of its ASCII letters.
  static func rowID(unmentionedIn definition: UnsafeRawBufferPointer) -> String {
    if !mentions("rowid", definition) { return "rowid" }
    if !mentions("_rowid_", definition) { return "_rowid_" }
    return mentions("oid", definition) ? "" : "oid"
  }

  /// Whether a text contains a name of lower-case letters, with its ASCII letters in any case.
  private static func mentions(_ name: StaticString, _ text: UnsafeRawBufferPointer) -> Bool {
    let length = name.utf8CodeUnitCount
    guard text.count >= length else { return false }
    for start in 0...text.count - length {
      var matched = 0
      while matched < length, lowered(text[start + matched]) == name.utf8Start[matched] { matched += 1 }
      if matched == length { return true }
    }
    return false
  }

  /// What names begin with that SQLite or this package uses: `pragma_table_list` is a table to SQLite.
  private static let reservedPrefixes = ["sqlite_", "persistence_", "pragma_"]

  private static func isPlain(_ name: String) -> Bool {
    let folded = folded(name)
    return !name.isEmpty && name.utf8.count <= longest && !name.utf8.contains { $0 < 32 || $0 == 127 }
      && !reservedPrefixes.contains { folded.utf8.starts(with: $0.utf8) }
  }

  private static func replacement(for name: String, _ fallback: String) -> String {
    let harmless = name.utf8.prefix(40).filter {
      (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 95
    }
    return harmless.isEmpty ? fallback : "\(fallback)_\(String(decoding: harmless, as: UTF8.self))"
  }
}
