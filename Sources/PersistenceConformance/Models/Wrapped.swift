import PersistenceCore

/// A value wrapped in a struct, as a field of the kind of what it wraps.
package struct Wrapped<Raw: Sampled & OracleValue & ExactText>: RawRepresentable, PersistentValueConvertible,
  Sendable, ExactText
{
  /// What is wrapped.
  package var rawValue: Raw

  /// Wraps a value.
  package init(rawValue: Raw) { self.rawValue = rawValue }
}

extension Wrapped: Sampled {
  /// The samples of what is wrapped.
  package static var samples: [Wrapped] { Raw.samples.map(Wrapped.init) }

  /// What is wrapped, as it is stored.
  package var asStored: Wrapped { Wrapped(rawValue: rawValue.asStored) }
}

extension Wrapped: OracleOrder {
  /// By what is wrapped.
  package static func oracle(_ left: Wrapped, _ right: Wrapped) -> Int {
    Raw.oracle(left.rawValue, right.rawValue)
  }
}

/// An enum over numbers of a width of their own, as a field.
package enum Level: Int16, PersistentValueConvertible, CaseIterable, Sendable, ExactText, Sampled, OracleOrder
{
  /// The least number of its width.
  case lowest = -32768
  /// Zero.
  case middle = 0
  /// The greatest number of its width.
  case highest = 32767

  /// All of them.
  package static var samples: [Level] { allCases }

  /// By the number.
  package static func oracle(_ left: Level, _ right: Level) -> Int {
    Int16.oracle(left.rawValue, right.rawValue)
  }
}

extension SampledKind {
  /// A struct over every kind with an order, and enums over text and numbers.
  package static let wrapped: [SampledKind] =
    all.map { wrap($0.type) } + [SampledKind(type: Grade.self), SampledKind(type: Level.self)]

  private static func wrap<Raw: Sampled & OracleValue & ExactText>(_ type: Raw.Type) -> SampledKind {
    SampledKind(type: Wrapped<Raw>.self)
  }
}
