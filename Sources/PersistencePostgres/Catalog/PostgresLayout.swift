import Foundation
import PersistenceDriver
import PersistencePrimitives

/// The table, columns and indexes of a model; the catalog stores it as JSON.
struct PostgresLayout: Encodable, Sendable {
  static let currentFormat = 1

  /// An index of the model in the database.
  struct Index: Encodable, Sendable {
    /// The index's name; nil while it waits to be built.
    var name: String?
    /// Whether its entries have prefixes and digests of long values.
    var isWide: Bool
  }

  var format = currentFormat
  var schema: ModelSchema
  var table: String
  /// The columns' names, in the order of the schema's fields.
  var columns: [String]
  /// The indexes, in the order of the schema's.
  var indexes: [Index]

  /// The layout of a new table, whose indexes are still to be built.
  init(schema: ModelSchema, table: String, columns: [String]) {
    self.schema = schema
    self.table = table
    self.columns = columns
    indexes = schema.indexes.map { _ in Index(name: nil, isWide: false) }
  }

  /// The positions of the indexes that are still to be built, ascending.
  var unbuilt: [Int] { indexes.indices.filter { indexes[$0].name == nil } }

  /// The indexes that are still to be built.
  var unbuiltIndexes: [IndexSchema] { unbuilt.map { schema.indexes[$0] } }

  /// Reads a layout; throws ``PersistenceError/Code/unsupported`` for another format.
  init(_ text: String) throws {
    let entry = try JSONParser.parse(text)
    let format = try entry.required("format").integer()
    guard format == Self.currentFormat else {
      throw PersistenceError(
        .unsupported,
        "the model was written in format \(format), but this version of the package reads formats up to "
          + "\(Self.currentFormat); use a newer version")
    }
    self.init(
      schema: try ModelSchema(json: try entry.required("schema")), table: try entry.required("table").text(),
      columns: try entry.required("columns").elements().map { try $0.text() })
    let stored = try entry.required("indexes").elements()
    guard stored.count == schema.indexes.count else {
      throw PersistenceError.damaged("\(schema.name) has \(stored.count) indexes in its layout")
    }
    indexes = try stored.map { index in
      Index(
        name: try index.member("name").map { try $0.text() }, isWide: try index.required("isWide").truth())
    }
  }

  func encoded() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}

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
    let base = isPlain(wanted) ? wanted : replacement(for: wanted, fallback)
    var name = base
    var number = 2
    // By bytes: the server's names are equal only then, but Swift's are if they are canonically equivalent.
    while !taken.insert(key(name)).inserted {
      name = "\(base)_\(number)"
      number += 1
    }
    return name
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
