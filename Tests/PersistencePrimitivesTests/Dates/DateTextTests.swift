import Foundation
import PersistenceConformance
import PersistencePrimitives
import Testing

/// Dates as text: readable, and exact to the bit (contract V2).
struct DateTextTests {
  static let known: [(Double, String)] = [
    (0.0, "2001-01-01T00:00:00Z"), (-978_307_200.0, "1970-01-01T00:00:00Z"),
    (300_931_200.0, "2010-07-16T00:00:00Z"), (0.5, "2001-01-01T00:00:00.5Z"),
    (-0.25, "2000-12-31T23:59:59.75Z"), (-12.0, "2000-12-31T23:59:48Z"),
    (-12.25, "2000-12-31T23:59:47.75Z"), (86_399.999, "2001-01-01T23:59:59.999Z"),
    (-63_113_904_000.0, "0001-01-01T00:00:00Z"), (252_423_993_599.0, "9999-12-31T23:59:59Z"),
    (252_423_993_600.0, "@252423993600.0"), (1e300, "@1e+300"), (1e-9, "@1e-09"), (.infinity, "@inf"),
    (-.infinity, "@-inf"), (.nan, "@nan"), (-86_400.0 * 366, "2000-01-01T00:00:00Z"),
    (-86_400.0 * 307, "2000-02-29T00:00:00Z"),
  ]

  @Test("V2 dates are ISO 8601 if that is exact", arguments: known)
  func readable(seconds: Double, text: String) throws {
    #expect(DateText.text(seconds) == text)
    var bytes = Array("at ".utf8)
    DateText.append(seconds, to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == "at " + text)
    let back = try #require(DateText.seconds(text))
    #expect(back == seconds || (back.isNaN && seconds.isNaN))
  }

  @Test("V2 every date is exact to the bit after a round trip")
  func exact() throws {
    var random = SeededGenerator(seed: 7)
    var seconds: [Double] = [
      .leastNonzeroMagnitude, -.leastNormalMagnitude, .greatestFiniteMagnitude, 0.1, -0.1, 1e-4, -1e-4,
      9.999e-5,
      (-1.0).nextUp, (-1.0).nextDown, 252_423_993_599.0.nextUp, (-63_113_904_000.0).nextDown,
    ]
    for _ in 0..<20_000 {
      seconds.append(Double(bitPattern: random.next()))
      seconds.append(Double.random(in: -64e9...253e9, using: &random))
      seconds.append(Double.random(in: -1000...1000, using: &random))
      seconds.append(
        Date(timeIntervalSince1970: .random(in: 0...2e9, using: &random)).timeIntervalSinceReferenceDate)
    }
    for number in seconds where !number.isNaN {
      let text = DateText.text(number)
      #expect(DateText.seconds(text)?.bitPattern == number.bitPattern, "\(number) as \(text)")
    }
  }

  @Test(
    "V2 text that is not a canonical date is rejected",
    arguments: [
      "", "@", "@x", "@1 ", "@0x10", "2001-01-01", "2001-01-01T00:00:00", "2001-02-29T00:00:00Z",
      "2001-13-01T00:00:00Z",
      "2001-00-01T00:00:00Z", "2001-01-00T00:00:00Z", "2001-01-01T24:00:00Z", "2001-01-01T00:60:00Z",
      "2001-01-01T00:00:60Z", "2001-01-01T00:00:00.Z", "2001-01-01T00:00:00Zx", "2001-01-01 00:00:00Z",
      "-001-01-01T00:00:00Z", "２001-01-01T00:00:00Z", "2001-01-01T00:00:00.5e3Z",
    ])
  func refused(text: String) {
    #expect(DateText.seconds(text) == nil)
  }
}
