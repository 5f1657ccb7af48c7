package import PersistenceCore

/// A predicate and the same condition as a Swift closure.
struct Condition<Model: PersistentRecord>: Sendable, CustomStringConvertible {
  let predicate: PersistentPredicate<Model>
  let holds: @Sendable (Model) -> Bool

  init(_ predicate: PersistentPredicate<Model>, _ holds: @escaping @Sendable (Model) -> Bool) {
    self.predicate = predicate
    self.holds = holds
  }

  var description: String { predicate.description }

  static func && (left: Condition, right: Condition) -> Condition {
    Condition(left.predicate && right.predicate) { left.holds($0) && right.holds($0) }
  }

  static func || (left: Condition, right: Condition) -> Condition {
    Condition(left.predicate || right.predicate) { left.holds($0) || right.holds($0) }
  }

  static prefix func ! (condition: Condition) -> Condition {
    Condition(!condition.predicate) { !condition.holds($0) }
  }
}

/// The requirements on a field's type that the oracle needs.
package typealias OracleValue = OracleOrder & PersistentValueConvertible & Sendable

extension ComparisonOperator {
  /// Returns whether the comparison holds for two values, whose order is below, equal to or above 0.
  func holds(_ order: Int) -> Bool {
    switch self {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }
}
