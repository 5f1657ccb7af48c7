package import Foundation

/// A number as decimal digits and an exponent, with every digit of its text.
package struct ExactNumber: Hashable, Sendable {
  /// The limit of exponents, far beyond any number that a store can hold.
  private static let exponentLimit = 1_000_000

  package private(set) var isNegative: Bool
  /// The significant digits, without zeros at either end; empty for zero.
  package private(set) var digits: [UInt8]
  /// The power of ten of the last digit.
  package private(set) var exponent: Int

  /// Reads `-12.50e+3` and the like; nil for anything else.
  package init?(_ text: String) {
    var bytes = Array(text.utf8)[...]
    isNegative = bytes.first == UInt8(ascii: "-")
    if isNegative || bytes.first == UInt8(ascii: "+") { bytes.removeFirst() }
    digits = []
    exponent = 0
    var hasDigit = false
    var hasPoint = false
    while let byte = bytes.first {
      if byte == UInt8(ascii: "."), !hasPoint {
        hasPoint = true
      } else if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
        hasDigit = true
        digits.append(byte - UInt8(ascii: "0"))
        if hasPoint { exponent -= 1 }
      } else {
        break
      }
      bytes.removeFirst()
    }
    guard hasDigit else { return nil }
    if let mark = bytes.first {
      guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E"),
        let power = Self.power(bytes.dropFirst())
      else { return nil }
      exponent += power
    }
    while digits.last == 0 {
      digits.removeLast()
      exponent += 1
    }
    digits = Array(digits.drop { $0 == 0 })
    if digits.isEmpty { (exponent, isNegative) = (0, false) }
  }

  /// The power after an `e`, clamped to a limit that no stored number reaches.
  private static func power(_ bytes: ArraySlice<UInt8>) -> Int? {
    var bytes = bytes
    let isNegative = bytes.first == UInt8(ascii: "-")
    if isNegative || bytes.first == UInt8(ascii: "+") { bytes.removeFirst() }
    guard !bytes.isEmpty else { return nil }
    var power = 0
    for byte in bytes {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      power = min(exponentLimit, power * 10 + Int(byte - UInt8(ascii: "0")))
    }
    return isNegative ? -power : power
  }

  package var isZero: Bool { digits.isEmpty }

  private var isIntegral: Bool { exponent >= 0 }

  /// The number as a 64-bit integer; nil if it has a fraction, or is too large.
  package var int64: Int64? { isIntegral ? Self.integer(isNegative, digits, exponent) : nil }

  /// The greatest integer that is not greater; nil beyond 64 bits.
  package var floor: Int64? { isIntegral ? int64 : rounded(away: isNegative) }

  /// The least integer that is not less; nil beyond 64 bits.
  package var ceiling: Int64? { isIntegral ? int64 : rounded(away: !isNegative) }

  private func rounded(away: Bool) -> Int64? {
    let kept = max(0, digits.count + exponent)
    guard let whole = Self.integer(isNegative, Array(digits.prefix(kept)), 0) else { return nil }
    guard away else { return whole }
    let (result, overflow) = whole.addingReportingOverflow(isNegative ? -1 : 1)
    return overflow ? nil : result
  }

  private static func integer(_ isNegative: Bool, _ digits: [UInt8], _ exponent: Int) -> Int64? {
    guard digits.count + exponent <= 19 else { return nil }
    var magnitude: UInt64 = 0
    for digit in digits + Array(repeating: 0, count: exponent) {
      magnitude = magnitude * 10 + UInt64(digit)
    }
    if isNegative {
      return magnitude <= UInt64(Int64.max) + 1 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    }
    return Int64(exactly: magnitude)
  }
}

extension ExactNumber {
  /// The decimal of the same value; nil if a decimal cannot hold all digits.
  package var decimal: Decimal? {
    guard digits.count <= 39, abs(exponent) <= 170, let decimal = Decimal(canonicalText: text),
      ExactNumber(decimal.canonicalText) == self
    else { return nil }
    return decimal
  }

  /// The double whose shortest text has the same value; nil if every double would lose digits.
  package var double: Double? {
    guard let number = Double(text), number.isFinite, ExactNumber("\(number)") == self else { return nil }
    return number
  }

  private var text: String {
    (isNegative ? "-" : "") + digits.map(String.init).joined() + "\(digits.isEmpty ? "0" : "")e\(exponent)"
  }
}
