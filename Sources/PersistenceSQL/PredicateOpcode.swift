/// One opcode of a lowered condition: an operation and the positions of the fields that it reads.
///
/// Conditions are in negation normal form. Negations are pushed down to the comparisons and written so that they
/// are true for NULL: SQL's UNKNOWN is never negated, and indexes stay usable.
package struct PredicateOpcode: Hashable, Sendable {
  package enum Operation: UInt8, Sendable {
    case never, always
    /// The conjunction or disjunction of the ``PredicateOpcode/count`` conditions that follow.
    case all, any
    case isNull, isNotNull
    /// Comparisons with a value that is not nil.
    case equal, notEqual
    case less, lessOrEqual, greater, greaterOrEqual
    case isBetween, isNotBetween
    /// Membership in a list, each of whose values is greater than the one before if ``PredicateOpcode/other`` is 1.
    case isIn, isNotIn
    case textMatches, textDoesNotMatch
    case fieldEqual, fieldNotEqual, fieldLess, fieldLessOrEqual, fieldGreater, fieldGreaterOrEqual
    /// A call of the evaluator over the ``PredicateOpcode/count`` fields that follow.
    case evaluated
    /// A field that the evaluator reads.
    case field
    /// The field matches a pattern of `LIKE`; not, if ``PredicateOpcode/other`` is 1.
    case isLike, isLikeInAnyCase
  }

  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// An opcode over one field or two; `orNull` makes it also true where a field is nil, as a negated comparison is.
  package init(_ operation: Operation, _ field: Int = 0, _ other: Int = 0, orNull: Bool = false) {
    rawValue =
      UInt64(operation.rawValue) | (orNull ? 1 << 8 : 0) | UInt64(UInt16(truncatingIfNeeded: field)) << 16
      | UInt64(UInt16(truncatingIfNeeded: other)) << 32
  }

  /// An opcode that a number of operands follow.
  package init(_ operation: Operation, count: Int) {
    rawValue = UInt64(operation.rawValue) | UInt64(UInt32(truncatingIfNeeded: count)) << 16
  }

  package var operation: Operation { Operation(rawValue: UInt8(truncatingIfNeeded: rawValue)) ?? .never }
  package var orNull: Bool { rawValue & 1 << 8 != 0 }
  package var field: Int { Int(UInt16(truncatingIfNeeded: rawValue >> 16)) }
  package var other: Int { Int(UInt16(truncatingIfNeeded: rawValue >> 32)) }
  package var count: Int { Int(UInt32(truncatingIfNeeded: rawValue >> 16)) }
}
