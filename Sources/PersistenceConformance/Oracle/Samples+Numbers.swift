import Foundation

extension FixedWidthInteger {
  /// The extremes and a few values between.
  static var samples: [Self] { [.min, .max, 0, 1, 2, 100, .min + 1, .max - 1] }
}

extension Int8: Sampled {}
extension Int16: Sampled {}
extension Int32: Sampled {}
extension Int64: Sampled {
  /// The extremes, and the limits of exact doubles.
  static var samples: [Int64] {
    [.min, .max, -1, 0, 1, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1, .max - 1, .min + 1]
  }
}
extension Int: Sampled {}
extension UInt8: Sampled {}
extension UInt16: Sampled {}
extension UInt32: Sampled {}

extension Double: Sampled {
  /// The extremes, the neighbors of 1, subnormal numbers, infinities and NaN.
  static var samples: [Double] {
    [
      -.infinity, -.greatestFiniteMagnitude, -1.5, -.leastNonzeroMagnitude, -0.0, 0.0, .leastNonzeroMagnitude,
      .leastNormalMagnitude, 0.1, 1.0, 1.0.nextUp, 1e16, 9_007_199_254_740_992, .greatestFiniteMagnitude,
      .infinity, .nan,
    ]
  }

  var asStored: Double { self == 0 ? 0 : self }

  /// Random bits that are not NaN, or one of the samples.
  static func sample(using random: inout SeededGenerator) -> Double {
    if random.oneIn(4) { return random.pick(samples) + 0 }
    while true {
      let number = Double(bitPattern: random.next())
      if !number.isNaN { return number }
    }
  }
}

extension Float: Sampled {
  static var samples: [Float] {
    [
      -.infinity, -.greatestFiniteMagnitude, -.leastNonzeroMagnitude, -0.0, 0, .leastNonzeroMagnitude, 0.1, 1,
      Float(1).nextUp, 16_777_216, .greatestFiniteMagnitude, .infinity, .nan,
    ]
  }

  var asStored: Float { self == 0 ? 0 : self }

  static func sample(using random: inout SeededGenerator) -> Float {
    if random.oneIn(4) { return random.pick(samples) + 0 }
    while true {
      let number = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
      if !number.isNaN { return number }
    }
  }
}

extension Decimal: Sampled {
  /// 38 digits, the smallest steps, numbers that sort wrongly as text, and NaN.
  static var samples: [Decimal] {
    [
      "-99999999999999999999999999999999999999", "-10", "-9.5", "-0.00000000000000000000000000000000000001",
      "0", "0.1", "0.10000000000000000000000000000000000001", "9", "10", "10.5", "9007199254740993",
      "12345678901234567890.123456789012345678", "99999999999999999999999999999999999999", "1e100", "1e-100",
    ].compactMap { Decimal(string: $0) } + [.nan]
  }

  static func sample(using random: inout SeededGenerator) -> Decimal {
    if random.oneIn(3) { return random.pick(samples) }
    let number = Decimal(Int64(bitPattern: random.next()))
    return number / Decimal(sign: .plus, exponent: random.int(0...18), significand: 1)
  }
}
