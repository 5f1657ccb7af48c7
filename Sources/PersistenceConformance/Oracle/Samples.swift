import Foundation

/// A type with sample values that stores often get wrong.
protocol Sampled {
  /// The extremes and other difficult values.
  static var samples: [Self] { get }

  /// The value as it is stored: 0.0 for −0.0 (V4), and otherwise unchanged.
  var asStored: Self { get }
}

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

extension Bool: Sampled { static var samples: [Bool] { [false, true] } }

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

extension Date: Sampled {
  /// The extremes, recent dates with all their bits, and dates that differ in one bit.
  static var samples: [Date] {
    [
      -.greatestFiniteMagnitude, -63_114_076_800, -978_307_200, -0.1, 0, 0.1, 0.1.nextUp,
      781_234_567.123_456_7, 781_234_567.123_456_7.nextUp, 1e15, .infinity, .nan,
    ].map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  static func sample(using random: inout SeededGenerator) -> Date {
    if random.oneIn(4) { return random.pick(samples) }
    return Date(timeIntervalSinceReferenceDate: Double.random(in: -1e10...1e10, using: &random))
  }
}

extension String: Sampled {
  /// Empty text, U+0000, both forms of é, wildcards, common prefixes, and text from all planes.
  static var samples: [String] {
    [
      "", "\0", "\0\0", "a", "a\0", "a\0b", "A", "ab", "b", "a%", "a_b", "*", "\\", "'", "\"", "\u{E9}",
      "e\u{301}", "e", "\u{301}", "ß", "SS", "İ", "i\u{307}", "ς", "Σ", "👩‍👩‍👧‍👦", "\u{FFFF}", "\u{10000}",
      "\u{10FFFF}", "\u{FEFF}x", "\r\n", "\u{2028}", "NaN", "nil", "null", "007", " ", "\u{7F}",
    ]
  }
}

extension Data: Sampled {
  /// Empty data, zeros, common prefixes, and all bytes.
  static var samples: [Data] {
    [[], [0], [0, 0], [0, 255], [1], [127], [128], [255], [255, 0], [255, 255]].map { Data($0 as [UInt8]) }
      + [Data(0...255), Data("NaN".utf8)]
  }
}

extension UUID: Sampled {
  /// The extremes, and values around the sign bits.
  static var samples: [UUID] {
    [
      "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001",
      "7FFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "80000000-0000-0000-0000-000000000000",
      "00000000-0000-0000-8000-000000000000", "00000000-0000-0000-7FFF-FFFFFFFFFFFF",
      "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    ].compactMap(UUID.init(uuidString:))
  }
}

extension URL: Sampled {
  /// Schemes, escapes, a query, and a non-ASCII host.
  static var samples: [URL] {
    [
      "https://example.org", "https://example.org/", "https://example.org/%C3%A9?q=%25", "http://example.org",
      "file:///tmp/a%20b", "mailto:a@example.org", "a", "urn:x:y",
    ].compactMap { URL(string: $0) }
  }

  static func sample(using random: inout SeededGenerator) -> URL { random.pick(samples) }
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

extension Sampled { var asStored: Self { self } }

extension Sampled where Self: CaseIterable { static var samples: [Self] { Array(allCases) } }
