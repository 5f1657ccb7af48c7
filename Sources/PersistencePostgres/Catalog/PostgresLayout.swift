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
