import Foundation
import PersistenceCore

/// A kind of field and its Swift type.
package struct SampledKind: Sendable, CustomStringConvertible {
  /// The type.
  package let type: any (Sampled & OracleValue & ExactText).Type

  /// The type's name.
  package var description: String { "\(type)" }

  /// Every ordered kind.
  package static let all: [SampledKind] = [
    SampledKind(type: Bool.self), SampledKind(type: Int8.self), SampledKind(type: Int16.self),
    SampledKind(type: Int32.self), SampledKind(type: Int64.self), SampledKind(type: Int.self),
    SampledKind(type: UInt8.self), SampledKind(type: UInt16.self), SampledKind(type: UInt32.self),
    SampledKind(type: Float.self), SampledKind(type: Double.self), SampledKind(type: String.self),
    SampledKind(type: Data.self), SampledKind(type: Date.self), SampledKind(type: UUID.self),
    SampledKind(type: URL.self), SampledKind(type: Decimal.self), SampledKind(type: Grade.self),
  ]
}

extension Grade: Sampled, OracleOrder {
  /// All kinds.
  package static var samples: [Grade] { allCases }

  /// Compares the raw text.
  package static func oracle(_ left: Grade, _ right: Grade) -> Int {
    String.oracle(left.rawValue, right.rawValue)
  }
}
