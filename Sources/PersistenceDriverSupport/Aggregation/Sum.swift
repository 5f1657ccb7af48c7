import Foundation
import PersistenceDriver

/// An exact sum of doubles in any order, rounded only when it is read.
///
/// It is a fixed-point number wide enough for every double, in limbs of 32 bits with deferred carries (the plain form
/// of the accumulator in U. Kulisch, “Very fast and exact accumulation of products”, Computing 91, 2011).
///
/// Complexity: O(1) to add a term; linear in the 70 limbs to read the value.
struct ExactSum {
  /// Bit 0 of limb 0 is 2^−1074; the highest limbs are reserved for carries.
  private var limbs = [Int64](repeating: 0, count: 70)
  private var pending = 0
  /// The sum of the terms that are not finite; nil if there are none.
  private var special: Double?

  mutating func add(_ number: Double) {
    guard number.isFinite else {
      // The sum of opposite infinities is NaN.
      special = special.map { $0 + number } ?? number
      return
    }
    let isNormal = number.exponentBitPattern > 0
    let mantissa = number.significandBitPattern | (isNormal ? 1 << 52 : 0)
    let shift = isNormal ? Int(number.exponentBitPattern) - 1 : 0
    let wide = UInt128(mantissa) << UInt128(shift % 32)
    let sign: Int64 = number.sign == .minus ? -1 : 1
    for part in 0..<3 {
      limbs[shift / 32 + part] += sign * Int64(truncatingIfNeeded: (wide >> UInt128(part * 32)) & 0xFFFF_FFFF)
    }
    pending += 1
    if pending == 1 << 30 {
      Self.carry(&limbs)
      pending = 0
    }
  }

  /// The sum, rounded to the nearest double, ties to even.
  var value: Double {
    if let special { return special.isNaN ? .nan : special }
    var limbs = limbs
    Self.carry(&limbs)
    let isNegative = (limbs.last ?? 0) < 0
    if isNegative {
      for index in limbs.indices { limbs[index] = -limbs[index] }
      Self.carry(&limbs)
    }
    guard let top = limbs.lastIndex(where: { $0 != 0 }) else { return 0 }
    let highest = top * 32 + (63 - limbs[top].leadingZeroBitCount)
    let magnitude = Self.rounded(limbs, highest: highest)
    return isNegative ? -magnitude : magnitude
  }

  /// Propagates carries, so that every limb except the last, which has the sign, is in 0 ..< 2^32.
  private static func carry(_ limbs: inout [Int64]) {
    var carry: Int64 = 0
    for index in limbs.indices.dropLast() {
      let sum = limbs[index] + carry
      limbs[index] = sum & 0xFFFF_FFFF
      carry = sum >> 32
    }
    limbs[limbs.count - 1] += carry
  }

  private static func rounded(_ limbs: [Int64], highest: Int) -> Double {
    func bit(_ index: Int) -> UInt64 { UInt64(limbs[index / 32] >> Int64(index % 32)) & 1 }
    func bits(_ range: ClosedRange<Int>) -> UInt64 { range.reversed().reduce(0) { $0 << 1 | bit($1) } }
    // Up to 53 bits above 2^−1074 are the double's own bits, subnormal or not.
    guard highest > 52 else { return Double(bitPattern: bits(0...highest)) }
    var mantissa = bits(highest - 52...highest)
    var exponent = highest - 51
    let lowest = highest - 53
    if bit(lowest) == 1 {
      let isTie = !(0..<lowest).contains { bit($0) == 1 }
      if !isTie || mantissa & 1 == 1 { mantissa += 1 }
      if mantissa == 1 << 53 {
        mantissa >>= 1
        exponent += 1
      }
    }
    guard exponent < 2047 else { return .infinity }
    return Double(bitPattern: UInt64(exponent) << 52 | mantissa & (1 << 52 - 1))
  }
}

/// The sum of numbers of one kind, rounded only when it is read.
struct Sum {
  private var count: Int64 = 0
  private var exact: Exact

  private enum Exact {
    case integer(Int128)
    case double(ExactSum)
    case decimal(ExactDecimalSum)
  }

  init(_ kind: FieldKind) {
    switch kind {
    case .float, .double: exact = .double(ExactSum())
    case .decimal: exact = .decimal(ExactDecimalSum())
    default: exact = .integer(0)
    }
  }

  mutating func add(_ cell: RowCell) throws {
    count += 1
    switch exact {
    case .integer(let sum): exact = .integer(sum + Int128(cell.integerValue))
    case .double(var sum):
      exact = .integer(0)  // Releases the limbs, so that they change in place.
      sum.add(cell.doubleValue)
      exact = .double(sum)
    case .decimal(var sum):
      exact = .integer(0)
      try sum.add(cell.decimalValue().canonicalText)
      exact = .decimal(sum)
    }
  }

  /// The sum; nil if it exceeds the range of its kind.
  var total: PersistentValue? {
    switch exact {
    case .integer(let sum): Int64(exactly: sum).map(PersistentValue.integer)
    case .double(let sum): .double(sum.value)
    case .decimal(let sum): sum.value(dividedBy: 1).map(PersistentValue.decimal)
    }
  }

  /// The sum divided by the number of values; null if there are none, nil if it exceeds the range of its kind.
  var average: PersistentValue? {
    guard count > 0 else { return .null }
    switch exact {
    case .integer(let sum): return .double(Double(sum) / Double(count))
    case .double(let sum): return .double(sum.value / Double(count))
    case .decimal(let sum): return sum.value(dividedBy: count).map(PersistentValue.decimal)
    }
  }
}
