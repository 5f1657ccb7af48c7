/// One word of a lowered condition: an operation with the positions of the fields it reads, without values.
///
/// Conditions are lowered to negation normal form: a negation is pushed down to the comparisons, where it is
/// said in a way that is true for NULL too, so that SQL's UNKNOWN is never negated and indexes stay usable.
package struct PredicateOpcode: Hashable, Sendable {
  package enum Operation: UInt8, Sendable {
    case no, yes
    /// The next so many conditions, all or any of them.
    case all, any
    case isNull, isNotNull
    /// Equal to, and different from, a value that is not nil.
    case equal, differs
    case less, lessOrEqual, greater, greaterOrEqual
    case isBetween, isNotBetween
    case isIn, isNotIn
    case isFound, isNotFound
    case fieldEqual, fieldDiffers, fieldLess, fieldLessOrEqual, fieldGreater, fieldGreaterOrEqual
    /// Decided by the evaluator over the fields of the next so many words.
    case evaluated
    /// A field that the evaluator reads.
    case field
  }

  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// A word over one field or two.
  ///
  /// - Parameters:
  ///   - operation: What is asked.
  ///   - field: The position of the field.
  ///   - other: The position of the field that it is compared with.
  ///   - orNull: Whether it is true, too, where a field that it reads is nil: a negated ordering.
  package init(_ operation: Operation, _ field: Int = 0, _ other: Int = 0, orNull: Bool = false) {
    rawValue =
      UInt64(operation.rawValue) | (orNull ? 1 << 8 : 0) | UInt64(UInt16(truncatingIfNeeded: field)) << 16
      | UInt64(UInt16(truncatingIfNeeded: other)) << 32
  }

  /// A word that is followed by so many others.
  package init(_ operation: Operation, count: Int) {
    rawValue = UInt64(operation.rawValue) | UInt64(UInt32(truncatingIfNeeded: count)) << 16
  }

  package var operation: Operation { Operation(rawValue: UInt8(truncatingIfNeeded: rawValue)) ?? .no }
  package var orNull: Bool { rawValue & 1 << 8 != 0 }
  package var field: Int { Int(UInt16(truncatingIfNeeded: rawValue >> 16)) }
  package var other: Int { Int(UInt16(truncatingIfNeeded: rawValue >> 32)) }
  package var count: Int { Int(UInt32(truncatingIfNeeded: rawValue >> 16)) }
}
