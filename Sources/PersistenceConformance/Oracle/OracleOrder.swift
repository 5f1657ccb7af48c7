package import Foundation

/// The contract's order of a type (V3 to V4a), written anew in plain Swift, so that the suite shares no code with
/// the evaluator that it judges.
package protocol OracleOrder {
  /// Negative, zero or positive as the left sorts before, with or after the right.
  static func oracle(_ left: Self, _ right: Self) -> Int
}

extension OracleOrder where Self: Comparable {
  /// The type's own order.
  package static func oracle(_ left: Self, _ right: Self) -> Int {
    left == right ? 0 : (left < right ? -1 : 1)
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
  /// False before true.
  package static func oracle(_ left: Bool, _ right: Bool) -> Int { (left ? 1 : 0) - (right ? 1 : 0) }
}

extension Double: OracleOrder {
  /// NaN after everything, and equal to itself.
  package static func oracle(_ left: Double, _ right: Double) -> Int {
    if left.isNaN || right.isNaN { return Bool.oracle(left.isNaN, right.isNaN) }
    return left == right ? 0 : (left < right ? -1 : 1)
  }
}

extension Float: OracleOrder {
  /// As doubles.
  package static func oracle(_ left: Float, _ right: Float) -> Int {
    Double.oracle(Double(left), Double(right))
  }
}

extension Date: OracleOrder {
  /// As the doubles that they are.
  package static func oracle(_ left: Date, _ right: Date) -> Int {
    Double.oracle(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
  }
}

extension Decimal: OracleOrder {
  /// By numeric value, NaN after everything.
  package static func oracle(_ left: Decimal, _ right: Decimal) -> Int {
    if left.isNaN || right.isNaN { return Bool.oracle(left.isNaN, right.isNaN) }
    return left == right ? 0 : (left < right ? -1 : 1)
  }
}

extension String: OracleOrder {
  /// By UTF-8 bytes.
  package static func oracle(_ left: String, _ right: String) -> Int {
    Data.oracle(Data(left.utf8), Data(right.utf8))
  }
}

extension Data: OracleOrder {
  /// By bytes.
  package static func oracle(_ left: Data, _ right: Data) -> Int {
    if left.elementsEqual(right) { return 0 }
    return left.lexicographicallyPrecedes(right) ? -1 : 1
  }
}

extension UUID: OracleOrder {
  /// By bytes, which is the order of the hexadecimal text.
  package static func oracle(_ left: UUID, _ right: UUID) -> Int {
    String.oracle(left.uuidString, right.uuidString)
  }
}

extension URL: OracleOrder {
  /// By text.
  package static func oracle(_ left: URL, _ right: URL) -> Int {
    String.oracle(left.absoluteString, right.absoluteString)
  }
}

extension Optional: OracleOrder where Wrapped: OracleOrder {
  /// Nil first.
  package static func oracle(_ left: Wrapped?, _ right: Wrapped?) -> Int {
    guard let left, let right else { return Bool.oracle(left != nil, right != nil) }
    return Wrapped.oracle(left, right)
  }
}
