import DataAccess
import Foundation
import PersistenceCore

/// A record with a field of every type that stores support.
struct Kinds: PersistentRecord {
  struct Nested: Codable, Equatable, Sendable {
    var text: String
    var number: Int64
    var list: [Double?]
  }

  var id: UUID
  var bool: Bool?
  var small: Int8?
  var integer: Int64?
  var float: Float?
  var double: Double?
  var text: String?
  var bytes: [UInt8]?
  var data: Data?
  var date: Date?
  var uuid: UUID?
  var url: URL?
  var decimal: Decimal?
  var nested: Nested?

  init(id: UUID = UUID()) { self.id = id }

  static let schema = RecordSchema<Kinds>(
    "Kinds",
    fields: [
      .field("id", \.id), .field("bool", \.bool), .field("small", \.small), .field("integer", \.integer),
      .field("float", \.float), .field("double", \.double), .field("text", \.text), .field("bytes", \.bytes),
      .field("data", \.data), .field("date", \.date), .field("uuid", \.uuid), .field("url", \.url),
      .field("decimal", \.decimal), .field("nested", \.nested),
    ], key: [\.id])

  var primaryKey: UUID { id }

  init(from row: borrowing Row) throws {
    (
      id, bool, small, integer, float, double, text, bytes, data, date, uuid, url, decimal
    ) = try row.decodeFields()
    nested = try row.decode(at: 13)
  }

  func encode(into row: RowBuffer) throws {
    row.encodeFields(id, bool, small, integer, float, double, text, bytes, data, date, uuid, url, decimal)
    try row.encode(nested, at: 13)
  }

  /// The stored values, with the bits of numbers.
  var stored: [String] {
    get throws {
      let row = RowBuffer(count: 14)
      try encode(into: row)
      return try row.withRow { try $0.values() }.map { value in
        switch value {
        case .double(let number): "double \(String(number.bitPattern, radix: 16))"
        case .date(let seconds): "date \(String(seconds.bitPattern, radix: 16))"
        case .text(let text): "text \(Array(text.utf8))"
        case .document(let text): "document \(Array(text.utf8))"
        default: "\(value)"
        }
      }
    }
  }
}
