import Foundation

/// An exact sum of decimals in any order, rounded only when it is read.
///
/// It is a fixed-point number wide enough for every decimal, in limbs of nine digits with deferred carries.
struct ExactDecimalSum {
  private static let base: Int64 = 1_000_000_000
  private static let digitsOfLimb = 9
  /// The number of limbs after the point, enough for a decimal's least exponent, −128.
  private static let fractionLimbs = 15
  /// The number of digits that every decimal can hold.
  private static let precision = 38
  /// The maximum number of digits after the point of a decimal.
  private static let mostBehindPoint = 128

  private var limbs = [Int64](repeating: 0, count: 38)
  private var hasNaN = false

  /// Adds a number, given as canonical text.
  mutating func add(_ text: String) {
    guard text != "NaN" else {
      hasNaN = true
      return
    }
    let isNegative = text.hasPrefix("-")
    let parts = text.drop { $0 == "-" }.utf8.split(
      separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    let sign: Int64 = isNegative ? -1 : 1
    var limb = Self.fractionLimbs
    var whole = parts[0]
    while !whole.isEmpty {
      limbs[limb] += sign * Self.number(whole.suffix(Self.digitsOfLimb), paddedTo: 0)
      whole = whole.dropLast(Self.digitsOfLimb)
      limb += 1
    }
    guard parts.count == 2 else { return }
    limb = Self.fractionLimbs - 1
    var fraction = parts[1]
    while !fraction.isEmpty {
      limbs[limb] += sign * Self.number(fraction.prefix(Self.digitsOfLimb), paddedTo: Self.digitsOfLimb)
      fraction = fraction.dropFirst(Self.digitsOfLimb)
      limb -= 1
    }
  }

  /// The sum divided by a count, rounded once, halves away from zero, to 38 digits and at most 128 of them after
  /// the point; nil if a decimal cannot hold it.
  ///
  /// Foundation's division returns NaN if the quotient's first digits are far behind the point, so it is not used.
  func value(dividedBy count: Int64) -> Decimal? {
    guard !hasNaN else { return .nan }
    var limbs = limbs
    Self.carry(&limbs)
    let isNegative = (limbs.last ?? 0) < 0
    if isNegative {
      for index in limbs.indices { limbs[index] = -limbs[index] }
      Self.carry(&limbs)
    }
    Self.divide(&limbs, by: count)
    let text = limbs.reversed().map { limb in
      let digits = String(limb)
      return String(repeating: "0", count: max(0, Self.digitsOfLimb - digits.count)) + digits
    }.joined()
    var digits = text.utf8.drop { $0 == UInt8(ascii: "0") }.map { Int($0) - 48 }
    let behindPoint = Self.fractionLimbs * Self.digitsOfLimb
    let dropped = max(digits.count - Self.precision, behindPoint - Self.mostBehindPoint)
    let roundsUp = dropped <= digits.count && digits[digits.count - dropped] >= 5
    digits.removeLast(min(dropped, digits.count))
    if roundsUp { Self.increment(&digits) }
    var exponent = dropped - behindPoint
    while digits.last == 0, exponent < 127 {
      digits.removeLast()
      exponent += 1
    }
    guard !digits.isEmpty else { return 0 }
    let magnitude = Decimal(canonicalText: "\(digits.map(String.init).joined())e\(exponent)")
    return magnitude.map { isNegative ? -$0 : $0 }
  }

  /// Adds one to a number, given as digits with the least significant one last.
  private static func increment(_ digits: inout [Int]) {
    var place = digits.count
    while place > 0 {
      place -= 1
      if digits[place] < 9 {
        digits[place] += 1
        return
      }
      digits[place] = 0
    }
    digits.insert(1, at: 0)
  }

  /// Divides a non-negative number after carry propagation, and drops the digits behind the last limb.
  private static func divide(_ limbs: inout [Int64], by count: Int64) {
    guard count > 1 else { return }
    var rest: Int128 = 0
    for index in limbs.indices.reversed() {
      let (quotient, remainder) = (rest * Int128(base) + Int128(limbs[index]))
        .quotientAndRemainder(dividingBy: Int128(count))
      limbs[index] = Int64(quotient)
      rest = remainder
    }
  }

  private static func number(_ digits: some Collection<UInt8>, paddedTo width: Int) -> Int64 {
    var number = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    for _ in digits.count..<max(digits.count, width) { number *= 10 }
    return number
  }

  /// Propagates carries, so that every limb except the last, which has the sign, is in 0 ..< 10^9.
  private static func carry(_ limbs: inout [Int64]) {
    var carry: Int64 = 0
    for index in limbs.indices.dropLast() {
      let sum = limbs[index] + carry
      let digit = ((sum % base) + base) % base
      limbs[index] = digit
      carry = (sum - digit) / base
    }
    limbs[limbs.count - 1] += carry
  }
}
