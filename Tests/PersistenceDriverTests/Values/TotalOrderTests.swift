import Foundation
import PersistenceDriver
import Testing

/// Contract V3 to V4a on values, and the agreement of values with borrowed cells.
struct TotalOrderTests {
  static let doubles: [Double] = [
    -.infinity, -.greatestFiniteMagnitude, -1.5, -.leastNonzeroMagnitude, 0, .leastNonzeroMagnitude, 1,
    9_007_199_254_740_992, .greatestFiniteMagnitude, .infinity, .nan,
  ]

  static let ascending: [[PersistentValue]] = [
    [.null, .bool(false), .bool(true)],
    [.integer(.min), .integer(-1), .integer(0), .integer(9_007_199_254_740_993), .integer(.max)],
    doubles.map(PersistentValue.double),
    doubles.map(PersistentValue.date),
    ["", "\0", "a", "a\0", "ab", "b", "e\u{301}", "é", "\u{FFFD}", "😀"].map(PersistentValue.text),
    [[], [0], [0, 0], [0, 1], [127], [128], [255], [255, 0]].map(PersistentValue.bytes),
    ["-1e30", "-1.5", "0", "0.1", "1", "1.5", "12345678901234567890.123456789", "NaN"]
      .compactMap { Decimal(canonicalText: $0) }.map(PersistentValue.decimal),
    [
      "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-0000000000FF",
      "00000000-0000-0000-8000-000000000000", "7F000000-0000-0000-0000-000000000000",
      "80000000-0000-0000-0000-000000000000",
    ].compactMap(UUID.init).map(PersistentValue.uuid),
  ]

  @Test("V3 V4 V4a values of each kind have one total order", arguments: ascending)
  func order(values: [PersistentValue]) {
    #expect(values.count > 2)
    for (i, left) in values.enumerated() {
      for (j, right) in values.enumerated() {
        #expect(PersistentValue.compare(left, right).signum() == (i - j).signum(), "\(left) \(right)")
        #expect((left == right) == (i == j))
        if left == right { #expect(left.hashValue == right.hashValue) }
      }
    }
  }

  @Test("V3 V4 V4a borrowed cells compare as their values do", arguments: ascending)
  func cells(values: [PersistentValue]) throws {
    let left = RowBuffer(count: values.count)
    let right = RowBuffer(count: values.count)
    left.set(values)
    right.set(values)
    try left.withRow { left in
      try right.withRow { right in
        for i in values.indices {
          let value = try left.value(at: i)
          #expect(value == values[i])
          for j in values.indices {
            #expect(RowCell.compare(left[i], right[j]).signum() == (i - j).signum())
          }
        }
      }
    }
  }

  @Test("V4 negative zero is stored as zero, and every NaN as the quiet NaN")
  func folding() throws {
    let row = RowBuffer(count: 2)
    row.setCell(.double(-0.0), at: 0)
    row.setCell(.double(-Double.nan), at: 1)
    row.withRow { row in
      #expect(row[0].doubleValue.sign == .plus)
      #expect(row[1].doubleValue.bitPattern == Double.nan.bitPattern)
    }
    #expect(PersistentValue.double(-0.0) == .double(0))
    #expect(PersistentValue.double(-0.0).hashValue == PersistentValue.double(0).hashValue)
  }

  @Test("V4 the integer key of a double has the order of doubles")
  func keys() {
    for (i, left) in Self.doubles.enumerated() {
      for (j, right) in Self.doubles.enumerated() {
        #expect((TotalOrder.key(left) < TotalOrder.key(right)) == (i < j))
      }
    }
  }

  @Test("V2 a value survives encoding and decoding", arguments: ascending)
  func coding(values: [PersistentValue]) throws {
    let data = try JSONEncoder().encode(values)
    #expect(try JSONDecoder().decode([PersistentValue].self, from: data) == values)
  }

  @Test("V2 each decimal has one text, and keeps 38 digits")
  func decimals() throws {
    let texts = [
      "0", "-0.5", "1.25", "99999999999999999999999999999999999999", "NaN", "1000000000000000000000",
    ]
    for text in texts {
      #expect(try #require(Decimal(canonicalText: text)).canonicalText == text)
    }
    #expect(Decimal(canonicalText: "1.500")?.canonicalText == "1.5")
    #expect(Decimal(canonicalText: "-0")?.canonicalText == "0")
    for text in ["2.5e3", "+2500", "2500.", "25E+2", "2.5E03"] {
      #expect(Decimal(canonicalText: text) == 2_500, "\(text)")
    }
    for text in [
      "", "abc", "1,5", "1 ", "NaN1", ".", "-", "1-2", "1.2.3", "1e", "1e+", "1e2.5", "1e2e3", "+-1", "e5",
      "--1",
    ] {
      #expect(Decimal(canonicalText: text) == nil, "\(text)")
    }
  }
}
