import Foundation
import PersistenceCore

/// The requirements on a type whose samples are stored, compared and sorted.
typealias SampledValue = Sampled & OracleValue & ExactText

/// The Swift types of the kinds of fields.
enum SampledTypes {
  /// A type of every ordered kind.
  static let all: [any SampledValue.Type] = [
    Bool.self, Int8.self, Int16.self, Int32.self, Int64.self, Int.self, UInt8.self, UInt16.self, UInt32.self,
    Float.self, Double.self, String.self, Data.self, Date.self, UUID.self, URL.self, Decimal.self, Grade.self,
  ]

  /// Structs over every ordered kind, and enums over text and numbers.
  static let wrapped: [any SampledValue.Type] = all.map { wrap($0) } + [Grade.self, Level.self]

  private static func wrap<Raw: SampledValue>(_ type: Raw.Type) -> any SampledValue.Type { Wrapped<Raw>.self }
}
