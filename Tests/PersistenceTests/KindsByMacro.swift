import Foundation
import Persistence

enum Level: Int, PersistentValueConvertible, CaseIterable { case low = 1, high = 2 }

struct Code: RawRepresentable, PersistentValueConvertible, Hashable { var rawValue: String }

struct Address: Codable, Hashable {
  var street: String
  var floors: [Int?] = []
}

/// A model with every kind of contract V1, from the macro; ``KindsByHand`` is the handwritten equivalent.
@Persistent("kinds")
struct KindsByMacro: Hashable {
  var bool: Bool
  @ID var name: String
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
  @Indexed var code: Code
  var address: Address
  var tags: [String]
  var table: [String: Int]
  @Field("maybe bool") var optionalBool: Bool?
  var optionalInt: Int?
  var optionalString: String?
  var optionalData: Data?
  var optionalDate: Date?
  @Unique var optionalUUID: UUID?
  var optionalDecimal: Decimal?
  var optionalLevel: Level?
  var optionalCode: Code?
  var optionalAddress: Address?
  var optionalTags: [String]?
  @Transient var note = "new"
  #Index<KindsByMacro>([\.level, \.int], unique: true)
}
