/// Decimal numbers that one division or multiplication converts to the nearest double.
///
/// A mantissa of up to 53 bits and a power of ten up to 10^22 are both exact doubles, so the operation rounds
/// only once (William Clinger, "How to Read Floating Point Numbers Accurately", 1990).
package enum ShortDecimal {
  private static let powers: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
  ]

  /// The double nearest to `mantissa` × 10^`exponent`; nil if that takes more than one operation.
  package static func double(_ mantissa: Int64, exponent: Int) -> Double? {
    guard mantissa.magnitude <= 1 << 53, exponent.magnitude < powers.count else { return nil }
    let power = powers[Int(exponent.magnitude)]
    return exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
  }
}

extension Double {
  /// The double nearest to a decimal number; nil if it is infinite, or zero for another number.
  package init?(decimal text: String) {
    guard let number = Double(text), number.isFinite, number != 0 || ExactNumber(text)?.isZero == true else {
      return nil
    }
    self = TotalOrder.normalized(number)
  }
}

extension Float {
  /// The float nearest to a decimal number; nil if it is infinite, or zero for another number.
  package init?(decimal text: String) {
    guard let number = Float(text), number.isFinite, number != 0 || ExactNumber(text)?.isZero == true else {
      return nil
    }
    self = number == 0 ? 0 : number
  }
}
