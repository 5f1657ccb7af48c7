import Foundation
import Persistence

/// The same model as ``KindsByMacro``, written by hand.
struct KindsByHand: PersistentRecord, Hashable {
  var bool: Bool
  var name: String
  var int8: Int8
  var int16: Int16
  var int32: Int32
  var int64: Int64
  var int: Int
  var uint8: UInt8
  var uint16: UInt16
  var uint32: UInt32
  var float: Float
  var double: Double
  var bytes: [UInt8]
  var data: Data
  var date: Date
  var uuid: UUID
  var url: URL
  var decimal: Decimal
  var level: Level
  var code: Code
  var address: Address
  var tags: [String]
  var table: [String: Int]
  var optionalBool: Bool?
  var optionalInt: Int?
  var optionalString: String?
  var optionalData: Data?
  var optionalDate: Date?
  var optionalUUID: UUID?
  var optionalDecimal: Decimal?
  var optionalLevel: Level?
  var optionalCode: Code?
  var optionalAddress: Address?
  var optionalTags: [String]?

  static let schema = RecordSchema<KindsByHand>(
    "kinds",
    fields: [
      .field("bool", \.bool), .field("name", \.name), .field("int8", \.int8), .field("int16", \.int16),
      .field("int32", \.int32), .field("int64", \.int64), .field("int", \.int), .field("uint8", \.uint8),
      .field("uint16", \.uint16), .field("uint32", \.uint32), .field("float", \.float),
      .field("double", \.double), .field("bytes", \.bytes), .field("data", \.data), .field("date", \.date),
      .field("uuid", \.uuid), .field("url", \.url), .field("decimal", \.decimal), .field("level", \.level),
      .field("code", \.code), .field("address", \.address), .field("tags", \.tags), .field("table", \.table),
      .field("maybe bool", \.optionalBool), .field("optionalInt", \.optionalInt),
      .field("optionalString", \.optionalString), .field("optionalData", \.optionalData),
      .field("optionalDate", \.optionalDate), .field("optionalUUID", \.optionalUUID),
      .field("optionalDecimal", \.optionalDecimal), .field("optionalLevel", \.optionalLevel),
      .field("optionalCode", \.optionalCode), .field("optionalAddress", \.optionalAddress),
      .field("optionalTags", \.optionalTags),
    ],
    key: [\.name],
    indexes: [
      RecordIndex([\.code]), RecordIndex([\.optionalUUID], isUnique: true),
      RecordIndex([\.level, \.int], isUnique: true),
    ])

  var primaryKey: String { name }
}

extension KindsByHand {
  init(from row: borrowing Row) throws {
    bool = try row.decode(at: 0)
    name = try row.decode(at: 1)
    int8 = try row.decode(at: 2)
    int16 = try row.decode(at: 3)
    int32 = try row.decode(at: 4)
    int64 = try row.decode(at: 5)
    int = try row.decode(at: 6)
    uint8 = try row.decode(at: 7)
    uint16 = try row.decode(at: 8)
    uint32 = try row.decode(at: 9)
    float = try row.decode(at: 10)
    double = try row.decode(at: 11)
    bytes = try row.decode(at: 12)
    data = try row.decode(at: 13)
    date = try row.decode(at: 14)
    uuid = try row.decode(at: 15)
    url = try row.decode(at: 16)
    decimal = try row.decode(at: 17)
    level = try row.decode(at: 18)
    code = try row.decode(at: 19)
    address = try row.decode(at: 20)
    tags = try row.decode(at: 21)
    table = try row.decode(at: 22)
    optionalBool = try row.decode(at: 23)
    optionalInt = try row.decode(at: 24)
    optionalString = try row.decode(at: 25)
    optionalData = try row.decode(at: 26)
    optionalDate = try row.decode(at: 27)
    optionalUUID = try row.decode(at: 28)
    optionalDecimal = try row.decode(at: 29)
    optionalLevel = try row.decode(at: 30)
    optionalCode = try row.decode(at: 31)
    optionalAddress = try row.decode(at: 32)
    optionalTags = try row.decode(at: 33)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(bool, at: 0)
    row.encode(name, at: 1)
    row.encode(int8, at: 2)
    row.encode(int16, at: 3)
    row.encode(int32, at: 4)
    row.encode(int64, at: 5)
    row.encode(int, at: 6)
    row.encode(uint8, at: 7)
    row.encode(uint16, at: 8)
    row.encode(uint32, at: 9)
    row.encode(float, at: 10)
    row.encode(double, at: 11)
    row.encode(bytes, at: 12)
    row.encode(data, at: 13)
    row.encode(date, at: 14)
    row.encode(uuid, at: 15)
    row.encode(url, at: 16)
    row.encode(decimal, at: 17)
    row.encode(level, at: 18)
    row.encode(code, at: 19)
    try row.encode(address, at: 20)
    try row.encode(tags, at: 21)
    try row.encode(table, at: 22)
    row.encode(optionalBool, at: 23)
    row.encode(optionalInt, at: 24)
    row.encode(optionalString, at: 25)
    row.encode(optionalData, at: 26)
    row.encode(optionalDate, at: 27)
    row.encode(optionalUUID, at: 28)
    row.encode(optionalDecimal, at: 29)
    row.encode(optionalLevel, at: 30)
    row.encode(optionalCode, at: 31)
    try row.encode(optionalAddress, at: 32)
    try row.encode(optionalTags, at: 33)
  }
}
