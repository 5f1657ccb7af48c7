import Foundation
import PersistenceCore

/// An enum over text, as a field.
enum Grade: String, CaseIterable, SampledValue {
  case low = "L"
  /// Its raw value is the empty text, which is not nil.
  case none = ""
  case high = "é"
}

/// A struct over a number, as a field.
struct Metres: RawRepresentable, PersistentValueConvertible, Sendable, Hashable, ExactText {
  var rawValue: Double
}

/// A nested value, stored as a document.
struct Address: Codable, Hashable, Sendable {
  var street: String
  /// A number whose digits a double would lose.
  var number: Int64
  var position: [Double] = []
  var notes: [String: String?] = [:]
}

/// A record, written by hand, with a required and an optional field of every kind of V1.
struct AllKinds: PersistentRecord {
  var id: UUID
  var bool = false
  var int8: Int8 = 0
  var int16: Int16 = 0
  var int32: Int32 = 0
  var int64: Int64 = 0
  var int = 0
  var uint8: UInt8 = 0
  var uint16: UInt16 = 0
  var uint32: UInt32 = 0
  var float: Float = 0
  var double = 0.0
  var string = ""
  var bytes: [UInt8] = []
  var data = Data()
  var date = Date(timeIntervalSinceReferenceDate: 0)
  var uuid = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  var url = AllKinds.anyURL
  var decimal: Decimal = 0
  var grade = Grade.none
  var metres = Metres(rawValue: 0)
  var list: [String] = []
  var address = Address(street: "", number: 0)
  var optional = Optionals()

  struct Optionals: Sendable {
    var bool: Bool?
    var int8: Int8?
    var int16: Int16?
    var int32: Int32?
    var int64: Int64?
    var int: Int?
    var uint8: UInt8?
    var uint16: UInt16?
    var uint32: UInt32?
    var float: Float?
    var double: Double?
    var string: String?
    var bytes: [UInt8]?
    var data: Data?
    var date: Date?
    var uuid: UUID?
    var url: URL?
    var decimal: Decimal?
    var grade: Grade?
    var metres: Metres?
    var list: [String]?
    var address: Address?
  }

  /// A URL, because an empty one does not exist.
  static let anyURL = URL(fileURLWithPath: "/")

  init(id: UUID) { self.id = id }

  static let schema = RecordSchema<AllKinds>(
    "AllKinds",
    fields: [
      .field("id", \.id), .field("bool", \.bool), .field("int8", \.int8), .field("int16", \.int16),
      .field("int32", \.int32), .field("int64", \.int64), .field("int", \.int), .field("uint8", \.uint8),
      .field("uint16", \.uint16), .field("uint32", \.uint32), .field("float", \.float),
      .field("double", \.double), .field("string", \.string), .field("bytes", \.bytes),
      .field("data", \.data), .field("date", \.date), .field("uuid", \.uuid), .field("url", \.url),
      .field("decimal", \.decimal), .field("grade", \.grade), .field("metres", \.metres),
      .field("list", \.list), .field("address", \.address),
      .field("bool?", \.optional.bool), .field("int8?", \.optional.int8), .field("int16?", \.optional.int16),
      .field("int32?", \.optional.int32), .field("int64?", \.optional.int64), .field("int?", \.optional.int),
      .field("uint8?", \.optional.uint8), .field("uint16?", \.optional.uint16),
      .field("uint32?", \.optional.uint32), .field("float?", \.optional.float),
      .field("double?", \.optional.double), .field("string?", \.optional.string),
      .field("bytes?", \.optional.bytes), .field("data?", \.optional.data), .field("date?", \.optional.date),
      .field("uuid?", \.optional.uuid), .field("url?", \.optional.url),
      .field("decimal?", \.optional.decimal), .field("grade?", \.optional.grade),
      .field("metres?", \.optional.metres), .field("list?", \.optional.list),
      .field("address?", \.optional.address),
    ], key: [\.id], indexes: [RecordIndex(\.double, \.string), RecordIndex(\.optional.date)])

  var primaryKey: UUID { id }
}
