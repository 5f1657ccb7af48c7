import Foundation
import PersistenceCore

/// The fuzzer's one typed model, so that programs reach typed code: collections, pages and tokens.
struct FuzzRecord: PersistentRecord {
  let id: Int64
  let text: String?
  let number: Double
  let count: Int?
  let day: Date?
  let tag: String

  static let schema = RecordSchema<FuzzRecord>(
    "FuzzRecord",
    fields: [
      .field("id", \.id), .field("text", \.text), .field("number", \.number), .field("count", \.count),
      .field("day", \.day), .field("tag", \.tag),
    ], key: [\.id],
    indexes: [RecordIndex(\.text), RecordIndex(\.tag, \.number), RecordIndex(\.count, isUnique: true)])

  var primaryKey: Int64 { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    text = try row.decode(at: 1)
    number = try row.decode(at: 2)
    count = try row.decode(at: 3)
    day = try row.decode(at: 4)
    tag = try row.decode(at: 5)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(text, at: 1)
    row.encode(number, at: 2)
    row.encode(count, at: 3)
    row.encode(day, at: 4)
    row.encode(tag, at: 5)
  }

  /// The record's values in field order, for the comparison of rows.
  var values: [PersistentValue] {
    [
      .integer(id), text.map(PersistentValue.text) ?? .null, .double(number),
      count.map { .integer(Int64($0)) } ?? .null,
      day.map { .date($0.timeIntervalSinceReferenceDate) } ?? .null, .text(tag),
    ]
  }
}
