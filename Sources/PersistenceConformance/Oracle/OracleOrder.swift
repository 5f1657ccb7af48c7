/// The contract's order of a type (V3 to V4a).
///
/// It shares no code with the evaluator under test.
package protocol OracleOrder {
  /// Returns a negative number, zero or a positive number if the left sorts before, with or after the right.
  static func oracle(_ left: Self, _ right: Self) -> Int
}

extension OracleOrder where Self: Comparable {
  package static func oracle(_ left: Self, _ right: Self) -> Int {
    left == right ? 0 : (left < right ? -1 : 1)
  }
}

extension OracleOrder where Self: RawRepresentable, RawValue: OracleOrder {
  package static func oracle(_ left: Self, _ right: Self) -> Int {
    RawValue.oracle(left.rawValue, right.rawValue)
  }
}

extension Int8: OracleOrder {}
extension Int16: OracleOrder {}
extension Int32: OracleOrder {}
extension Int64: OracleOrder {}
extension Int: OracleOrder {}
extension UInt8: OracleOrder {}
extension UInt16: OracleOrder {}
extension UInt32: OracleOrder {}

extension Bool: OracleOrder {
  /// Sorts false before true.
  package static func oracle(_ left: Bool, _ right: Bool) -> Int { (left ? 1 : 0) - (right ? 1 : 0) }
}

extension Double: OracleOrder {
  /// Sorts NaN last, and equal to itself.
  package static func oracle(_ left: Double, _ right: Double) -> Int {
    if left.isNaN || right.isNaN { return Bool.oracle(left.isNaN, right.isNaN) }
    return left == right ? 0 : (left < right ? -1 : 1)
  }
}

extension Float: OracleOrder {
  package static func oracle(_ left: Float, _ right: Float) -> Int {
    Double.oracle(Double(left), Double(right))
  }
}

extension Optional: OracleOrder where Wrapped: OracleOrder {
  /// Sorts nil first.
  package static func oracle(_ left: Wrapped?, _ right: Wrapped?) -> Int {
    guard let left, let right else { return Bool.oracle(left != nil, right != nil) }
    return Wrapped.oracle(left, right)
  }
}
