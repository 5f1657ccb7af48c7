import Foundation

/// A type with sample values that stores often get wrong.
protocol Sampled {
  /// The extremes and other difficult values.
  static var samples: [Self] { get }

  /// The value as it is stored: 0.0 for −0.0 (V4), and otherwise unchanged.
  var asStored: Self { get }
}

extension Bool: Sampled { static var samples: [Bool] { [false, true] } }

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

extension Sampled { var asStored: Self { self } }

extension Sampled where Self: CaseIterable { static var samples: [Self] { Array(allCases) } }
