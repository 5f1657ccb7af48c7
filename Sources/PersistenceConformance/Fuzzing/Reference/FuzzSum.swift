import Foundation
import PersistenceCore

/// Exact sums with integers of any length, rounded once at the end.
///
/// A double is an integer multiple of 2^−1074, a decimal one of 10^−128.
enum FuzzSum {
  /// Returns the sum of values of a kind, without nils.
  static func sum(_ values: [PersistentValue], _ kind: FieldKind) throws -> PersistentValue {
    switch kind {
    case .decimal: return .decimal(try decimal(values, dividedBy: 1))
    case .double, .float: return .double(double(values))
    default:
      guard let sum = Int64("\(integer(values))") else { throw FuzzReference.Refusal(.valueTooLarge) }
      return .integer(sum)
    }
  }

  /// Returns the average of at least one value.
  static func average(_ values: [PersistentValue], _ kind: FieldKind) throws -> PersistentValue {
    switch kind {
    case .decimal: return .decimal(try decimal(values, dividedBy: values.count))
    case .double, .float: return .double(double(values) / Double(values.count))
    default: return .double(Double(integer(values)) / Double(values.count))
    }
  }

  /// No program has enough rows to exceed 128 bits.
  private static func integer(_ values: [PersistentValue]) -> Int128 {
    values.reduce(0) { if case .integer(let number) = $1 { $0 + Int128(number) } else { $0 } }
  }

  private static func double(_ values: [PersistentValue]) -> Double {
    let numbers = values.map { if case .double(let number) = $0 { number } else { Double.nan } }
    // Only NaN and infinities need a special case, because nothing is rounded.
    let special = numbers.filter { !$0.isFinite }
    if !special.isEmpty { return special.reduce(0, +) }
    var (above, below) = (FuzzNatural(), FuzzNatural())
    for number in numbers {
      if number < 0 { below.add(multiple(-number)) } else { above.add(multiple(number)) }
    }
    let isNegative = above < below
    let distance = isNegative ? below.minus(above) : above.minus(below)
    // The largest double not above the sum, by bisection, because bit patterns are ordered.
    var (low, high) = (UInt64(0), Double.infinity.bitPattern)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if distance < multiple(Double(bitPattern: middle)) { high = middle } else { low = middle }
    }
    let down = distance.minus(multiple(Double(bitPattern: low)))
    // Infinity represents 2^1024 here, as in rounding.
    let ceiling = multiple(Double(bitPattern: high))
    let up = distance < ceiling ? ceiling.minus(distance) : FuzzNatural()
    let isUp = up < down || (!(down < up) && high % 2 == 0)
    let magnitude = Double(bitPattern: isUp ? high : low)
    return isNegative ? -magnitude : magnitude
  }

  /// Returns a nonnegative number as a multiple of 2^−1074, with infinity as 2^1024.
  private static func multiple(_ number: Double) -> FuzzNatural {
    let (exponent, fraction) = (Int(number.bitPattern >> 52), number.bitPattern & 0xF_FFFF_FFFF_FFFF)
    return exponent == 0
      ? FuzzNatural(fraction, doubled: 0) : FuzzNatural(fraction + 0x10_0000_0000_0000, doubled: exponent - 1)
  }

  private static func decimal(_ values: [PersistentValue], dividedBy count: Int) throws -> Decimal {
    var (above, below) = (FuzzDigits(), FuzzDigits())
    for value in values {
      guard case .decimal(let number) = value, !number.isNaN else { return .nan }
      let digits = "\(number.significand)".reversed().compactMap(\.wholeNumberValue)
      if number < 0 {
        below.add(digits, at: number.exponent)
      } else {
        above.add(digits, at: number.exponent)
      }
    }
    let isNegative = above < below
    let distance = isNegative ? below.minus(above) : above.minus(below)
    let magnitude = try distance.divided(by: count).rounded()
    return isNegative ? -magnitude : magnitude
  }
}

/// A nonnegative integer of any length, in 32-bit digits, least significant first.
private struct FuzzNatural: Comparable {
  private var digits: [UInt32] = []

  init() {}

  init(_ number: UInt64, doubled times: Int) {
    guard number != 0 else { return }
    digits = Array(repeating: 0, count: times / 32)
    let shifted = UInt128(number) << UInt128(times % 32)
    for place in 0..<3 { digits.append(UInt32(truncatingIfNeeded: shifted >> UInt128(32 * place))) }
    trim()
  }

  mutating func add(_ other: FuzzNatural) {
    var carry: UInt64 = 0
    for place in 0..<max(digits.count, other.digits.count) + 1 {
      if place == digits.count { digits.append(0) }
      carry += UInt64(digits[place]) + UInt64(place < other.digits.count ? other.digits[place] : 0)
      digits[place] = UInt32(truncatingIfNeeded: carry)
      carry >>= 32
    }
    trim()
  }

  /// Returns the number minus one that is not larger.
  func minus(_ other: FuzzNatural) -> FuzzNatural {
    var rest = self
    var borrowed: Int64 = 0
    for place in rest.digits.indices {
      var digit = Int64(rest.digits[place]) - borrowed
      if place < other.digits.count { digit -= Int64(other.digits[place]) }
      borrowed = digit < 0 ? 1 : 0
      rest.digits[place] = UInt32(truncatingIfNeeded: digit)
    }
    rest.trim()
    return rest
  }

  private mutating func trim() { while digits.last == 0 { digits.removeLast() } }

  static func < (left: FuzzNatural, right: FuzzNatural) -> Bool {
    if left.digits.count != right.digits.count { return left.digits.count < right.digits.count }
    return left.digits.reversed().lexicographicallyPrecedes(right.digits.reversed())
  }
}

/// A nonnegative decimal number, as digits, the first for 10^−140.
private struct FuzzDigits {
  private static let point = 140
  private var columns = [Int](repeating: 0, count: 340)

  /// Adds digits, least significant first, as multiples of a power of ten.
  mutating func add(_ digits: [Int], at exponent: Int) {
    for (place, digit) in digits.enumerated() { columns[Self.point + exponent + place] += digit }
    for place in columns.indices.dropLast() {
      columns[place + 1] += columns[place] / 10
      columns[place] %= 10
    }
  }

  /// Returns the number minus one that is not larger.
  func minus(_ other: FuzzDigits) -> FuzzDigits {
    var rest = self
    for place in columns.indices {
      rest.columns[place] -= other.columns[place]
      if rest.columns[place] < 0 {
        rest.columns[place] += 10
        rest.columns[place + 1] -= 1
      }
    }
    return rest
  }

  /// Returns the quotient, truncated after the last digit.
  func divided(by count: Int) -> FuzzDigits {
    var (quotient, rest) = (self, 0)
    for place in columns.indices.reversed() {
      rest = rest * 10 + columns[place]
      quotient.columns[place] = rest / count
      rest %= count
    }
    return quotient
  }

  /// Returns the nearest number with 38 digits and none below 10^−128, rounding half up.
  func rounded() throws -> Decimal {
    guard let top = columns.lastIndex(where: { $0 != 0 }) else { return 0 }
    var kept = self
    let lowest = max(Self.point - 128, top - 37)
    if lowest > 0 {
      for place in 0..<lowest { kept.columns[place] = 0 }
      if columns[lowest - 1] >= 5 {
        var place = lowest
        while kept.columns[place] == 9 {
          kept.columns[place] = 0
          place += 1
        }
        kept.columns[place] += 1
      }
    }
    guard let last = kept.columns.lastIndex(where: { $0 != 0 }) else { return 0 }
    // A decimal's exponent is at most 127; zeros replace a larger one as far as digits allow.
    let first = max(lowest, min(kept.columns.firstIndex { $0 != 0 } ?? 0, Self.point + 127))
    let significand = kept.columns[first...last].reversed().reduce(Decimal(0)) { $0 * 10 + Decimal($1) }
    let exponent = first - Self.point
    guard exponent <= 127 else { throw FuzzReference.Refusal(.valueTooLarge) }
    return Decimal(sign: .plus, exponent: exponent, significand: significand)
  }

  static func < (left: FuzzDigits, right: FuzzDigits) -> Bool {
    left.columns.reversed().lexicographicallyPrecedes(right.columns.reversed())
  }
}
