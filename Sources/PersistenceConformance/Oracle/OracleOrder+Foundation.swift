package import Foundation

extension Date: OracleOrder {
  package static func oracle(_ left: Date, _ right: Date) -> Int {
    Double.oracle(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
  }
}

extension Decimal: OracleOrder {
  /// Sorts NaN last.
  package static func oracle(_ left: Decimal, _ right: Decimal) -> Int {
    if left.isNaN || right.isNaN { return Bool.oracle(left.isNaN, right.isNaN) }
    return left == right ? 0 : (left < right ? -1 : 1)
  }
}

extension String: OracleOrder {
  package static func oracle(_ left: String, _ right: String) -> Int {
    let (left, right) = (Array(left.utf8), Array(right.utf8))
    return left == right ? 0 : (left.lexicographicallyPrecedes(right) ? -1 : 1)
  }
}

extension Data: OracleOrder {
  package static func oracle(_ left: Data, _ right: Data) -> Int {
    if left == right { return 0 }
    return left.lexicographicallyPrecedes(right) ? -1 : 1
  }
}

extension UUID: OracleOrder {
  /// Compares the bytes, which is the order of the hexadecimal text.
  package static func oracle(_ left: UUID, _ right: UUID) -> Int {
    String.oracle(left.uuidString, right.uuidString)
  }
}

extension URL: OracleOrder {
  package static func oracle(_ left: URL, _ right: URL) -> Int {
    String.oracle(left.absoluteString, right.absoluteString)
  }
}
