package import Foundation
package import PersistenceCore

/// An enum over text, as a field.
package enum Grade: String, PersistentValueConvertible, CaseIterable, Sendable, ExactText {
  /// The first.
  case low = "L"
  /// The second; its raw value is the empty text, which is not nil.
  case none = ""
  /// The third.
  case high = "é"
}

/// A struct over a number, as a field.
package struct Metres: RawRepresentable, PersistentValueConvertible, Sendable, Hashable, ExactText {
  /// The number.
  package var rawValue: Double
  /// Wraps a number.
  package init(rawValue: Double) { self.rawValue = rawValue }
}

/// A nested value, stored as a document.
package struct Address: Codable, Hashable, Sendable {
  /// Text of any kind.
  package var street: String
  /// A number whose digits a double would lose.
  package var number: Int64
  /// Numbers.
  package var position: [Double]
  /// A dictionary nested in the document.
  package var notes: [String: String?]
  /// Creates an address.
  package init(street: String, number: Int64, position: [Double] = [], notes: [String: String?] = [:]) {
    self.street = street
    self.number = number
    self.position = position
    self.notes = notes
  }
}

/// A record, written by hand, with a required and an optional field of every kind of V1.
package struct AllKinds: PersistentRecord {
  package var id: UUID
  package var bool = false
  package var int8: Int8 = 0
  package var int16: Int16 = 0
  package var int32: Int32 = 0
  package var int64: Int64 = 0
  package var int = 0
  package var uint8: UInt8 = 0
  package var uint16: UInt16 = 0
  package var uint32: UInt32 = 0
  package var float: Float = 0
  package var double = 0.0
  package var string = ""
  package var bytes: [UInt8] = []
  package var data = Data()
  package var date = Date(timeIntervalSinceReferenceDate: 0)
  package var uuid = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  package var url = AllKinds.anyURL
  package var decimal: Decimal = 0
  package var grade = Grade.none
  package var metres = Metres(rawValue: 0)
  package var list: [String] = []
  package var address = Address(street: "", number: 0)
  package var optional = Optionals()

  /// The optional fields.
  package struct Optionals: Sendable {
    package var bool: Bool?
    package var int8: Int8?
    package var int16: Int16?
    package var int32: Int32?
    package var int64: Int64?
    package var int: Int?
    package var uint8: UInt8?
    package var uint16: UInt16?
    package var uint32: UInt32?
    package var float: Float?
    package var double: Double?
    package var string: String?
    package var bytes: [UInt8]?
    package var data: Data?
    package var date: Date?
    package var uuid: UUID?
    package var url: URL?
    package var decimal: Decimal?
    package var grade: Grade?
    package var metres: Metres?
    package var list: [String]?
    package var address: Address?
    /// All optional fields are nil.
    package init() {}
  }

  /// A URL, because an empty one does not exist.
  package static let anyURL = URL(fileURLWithPath: "/")

  /// Creates a record of zeros, empty values and nils.
  package init(id: UUID) { self.id = id }

  package static let schema = RecordSchema<AllKinds>(
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

  package var primaryKey: UUID { id }
}
