/// One thing that a statement yields, or sets: a field, or what is computed of it.
package struct SQLItem: Hashable, Sendable {
  package enum Operation: UInt8, Sendable {
    /// The field itself.
    case field
    /// How many rows there are.
    case count
    /// How many rows have a value in the field.
    case countOfValues
    case minimum, maximum
    /// The sum of whole numbers; nil where there is none.
    case sum
  }

  package let rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Something about the field at a position.
  package init(_ operation: Operation, _ position: Int = 0) {
    rawValue = UInt64(operation.rawValue) | UInt64(position) << 8
  }

  package var operation: Operation { Operation(rawValue: UInt8(truncatingIfNeeded: rawValue)) ?? .field }
  package var position: Int { Int(rawValue >> 8) }
}
