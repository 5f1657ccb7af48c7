import PersistenceCore

/// A struct that wraps a value, stored as the wrapped kind.
package struct Wrapped<Raw: Sampled & OracleValue & ExactText>: RawRepresentable, PersistentValueConvertible,
  Sendable, ExactText
{
  /// The wrapped value.
  package var rawValue: Raw

  /// Wraps a value.
  package init(rawValue: Raw) { self.rawValue = rawValue }
}

extension Wrapped: Sampled {
  /// The samples of the wrapped type.
  package static var samples: [Wrapped] { Raw.samples.map(Wrapped.init) }

  /// The wrapped value as it is stored.
  package var asStored: Wrapped { Wrapped(rawValue: rawValue.asStored) }
}

extension Wrapped: OracleOrder {
  /// Compares the wrapped values.
  package static func oracle(_ left: Wrapped, _ right: Wrapped) -> Int {
    Raw.oracle(left.rawValue, right.rawValue)
  }
}

/// An enum over integers of one width.
package enum Level: Int16, PersistentValueConvertible, CaseIterable, Sendable, ExactText, Sampled, OracleOrder
{
  /// The smallest number of the width.
  case lowest = -32768
  /// Zero.
  case middle = 0
  /// The largest number of the width.
  case highest = 32767

  /// All kinds.
  package static var samples: [Level] { allCases }

  /// Compares the numbers.
  package static func oracle(_ left: Level, _ right: Level) -> Int {
    Int16.oracle(left.rawValue, right.rawValue)
  }
}

extension SampledKind {
  /// Structs over every ordered kind, and enums over text and numbers.
  package static let wrapped: [SampledKind] =
    all.map { wrap($0.type) } + [SampledKind(type: Grade.self), SampledKind(type: Level.self)]

  private static func wrap<Raw: Sampled & OracleValue & ExactText>(_ type: Raw.Type) -> SampledKind {
    SampledKind(type: Wrapped<Raw>.self)
  }
}
