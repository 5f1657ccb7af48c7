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
    id = try row.decode(at: 0)
    bool = try row.decode(at: 1)
    small = try row.decode(at: 2)
    integer = try row.decode(at: 3)
    float = try row.decode(at: 4)
    double = try row.decode(at: 5)
    text = try row.decode(at: 6)
    bytes = try row.decode(at: 7)
    data = try row.decode(at: 8)
    date = try row.decode(at: 9)
    uuid = try row.decode(at: 10)
    url = try row.decode(at: 11)
    decimal = try row.decode(at: 12)
    nested = try row.decode(at: 13)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(bool, at: 1)
    row.encode(small, at: 2)
    row.encode(integer, at: 3)
    row.encode(float, at: 4)
    row.encode(double, at: 5)
    row.encode(text, at: 6)
    row.encode(bytes, at: 7)
    row.encode(data, at: 8)
    row.encode(date, at: 9)
    row.encode(uuid, at: 10)
    row.encode(url, at: 11)
    row.encode(decimal, at: 12)
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
