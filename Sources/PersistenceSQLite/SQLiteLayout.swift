import Foundation
import PersistenceDriver
import PersistencePrimitives

/// How a model that this package defined lies in the file: an entry of its catalog.
struct SQLiteLayout: Encodable {
  /// The format that this version of the package writes.
  static let currentFormat = 1

  var format = currentFormat
  var schema: ModelSchema
  /// The table's name.
  var table: String
  /// The columns' names, in the order of the schema's fields.
  var columns: [String]
  /// Whether the indexes are still to be built; nil where they are there.
  var awaitsIndexes: Bool?

  init(schema: ModelSchema, table: String, columns: [String], awaitsIndexes: Bool = false) {
    self.schema = schema
    self.table = table
    self.columns = columns
    self.awaitsIndexes = awaitsIndexes ? true : nil
  }

  /// Reads an entry.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/unsupported`` where it is of another format, and
  ///   others where it is none.
  init(_ text: String) throws {
    let entry = try JSONParser.parse(text)
    let format = try entry.required("format").integer()
    let schema = try entry.required("schema")
    guard format == Self.currentFormat else {
      let name = (try? schema.required("name").text()) ?? "a model"
      throw PersistenceError(
        .unsupported,
        "\(name) was written in format \(format), this version of the package reads format "
          + "\(Self.currentFormat): use a newer one")
    }
    self.init(
      schema: try ModelSchema(json: schema), table: try entry.required("table").text(),
      columns: try entry.required("columns").elements().map { try $0.text() },
      awaitsIndexes: entry.member("awaitsIndexes").map(Self.isTrue) ?? false)
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
