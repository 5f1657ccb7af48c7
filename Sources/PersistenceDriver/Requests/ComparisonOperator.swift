/// A comparison of a stored field with a value or with another field.
public enum ComparisonOperator: String, Sendable, Hashable, Codable, CaseIterable {
  /// Equal; nil equals nil.
  case equal = "=="
  /// Not equal.
  case notEqual = "!="
  /// Less; false where a side is nil, as every ordering (contract V6).
  case less = "<"
  /// Less or equal.
  case lessOrEqual = "<="
  /// Greater.
  case greater = ">"
  /// Greater or equal.
  case greaterOrEqual = ">="

  /// Whether the comparison asks for the order of its sides, not just for equality.
  public var isOrdering: Bool { self != .equal && self != .notEqual }

  /// Decides the comparison of two values, given nil-ness and the sign of their total order.
  package func holds(leftIsNull: Bool, rightIsNull: Bool, order: @autoclosure () -> Int) -> Bool {
    if leftIsNull || rightIsNull {
      switch self {
      case .equal: return leftIsNull && rightIsNull
      case .notEqual: return leftIsNull != rightIsNull
      default: return false
      }
    }
    let order = order()
    return switch self {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }
}
