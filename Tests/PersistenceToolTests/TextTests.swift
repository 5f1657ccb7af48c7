import Foundation
import PersistenceDriver
import PersistenceQueryLanguage
import Testing

@testable import PersistenceTool
import PersistencePrimitives

@Suite("Exact numbers, dates and terminal text")
struct TextTests {
  @Test(
    "Exact numbers keep every digit and compare by value",
    arguments: [
      ("0", "-0.00e5"), ("1", "1.000"), ("1e3", "1000"), ("12.5", "1.25E+1"), ("-0.001", "-1e-3"),
      ("9007199254740993", "9.007199254740993e15"),
    ])
  func equalNumbers(left: String, right: String) throws {
    #expect(try #require(ExactNumber(left)) == #require(ExactNumber(right)))
  }

  @Test(
    "Refuses invalid numbers",
    arguments: ["", "-", ".", "e5", "1e", "1e+", "0x10", " 1", "1 ", "1.2.3", "١"])
  func noNumbers(text: String) {
    #expect(ExactNumber(text) == nil)
  }

  @Test("Integers, floors and ceilings at the edges of 64 bits")
  func integers() throws {
    func number(_ text: String) throws -> ExactNumber { try #require(ExactNumber(text)) }
    #expect(try number("9223372036854775807").int64 == .max)
    #expect(try number("-9223372036854775808").int64 == .min)
    #expect(try number("9223372036854775808").int64 == nil)
    #expect(try number("-9223372036854775809").int64 == nil)
    #expect(try number("1e18").int64 == 1_000_000_000_000_000_000)
    #expect(try number("1e99999999999999999999").int64 == nil)
    #expect(try number("9223372036854775807.5").floor == .max)
    #expect(try number("9223372036854775807.5").ceiling == nil)
    #expect(try number("-9223372036854775808.5").ceiling == .min)
    #expect(try number("-9223372036854775808.5").floor == nil)
    #expect(try (number("-0.5").floor, number("-0.5").ceiling) == (-1, 0))
    #expect(try (number("0.5").floor, number("0.5").ceiling) == (0, 1))
    #expect(try (number("1e-400").floor, number("1e-400").ceiling) == (0, 1))
  }

  @Test("Converts to a double or a decimal only without loss")
  func lossless() throws {
    func number(_ text: String) throws -> ExactNumber { try #require(ExactNumber(text)) }
    #expect(try number("0.1").double == 0.1)
    #expect(try number("9007199254740993").double == nil)
    #expect(try number("9007199254740992").double == 9_007_199_254_740_992)
    #expect(try number("0.12345678901234567890").double == nil)
    #expect(try number("1e400").double == nil)
    #expect(try number("0.12345678901234567890").decimal == Decimal(canonicalText: "0.1234567890123456789"))
    #expect(try number("340282366920938463463374607431768211457").decimal == nil)
    #expect(try number("1e200").decimal == nil)
  }

  @Test("Dates are ISO 8601 in UTC")
  func moments() {
    #expect(DateText.text(0) == "2001-01-01T00:00:00Z")
    #expect(DateText.text(-1.25) == "2000-12-31T23:59:58.75Z")
    #expect(DateText.text(86399.5) == "2001-01-01T23:59:59.5Z")
    #expect(DateText.text(-978_307_200) == "1970-01-01T00:00:00Z")
    #expect(DateText.text(-63_113_904_000) == "0001-01-01T00:00:00Z")
    #expect(DateText.text(1e-7) == "@1e-07")
    #expect(DateText.text(.nan) == "@nan")
    #expect(DateText.text(1e15) == "@1000000000000000.0")
    #expect(DateText.text(-63_113_904_000.5) == "@-63113904000.5")
    #expect(ISO8601Reader.seconds("2000-02-29") == -26_524_800)
    #expect(ISO8601Reader.seconds("2001-01-01 00:00") == 0)
    #expect(ISO8601Reader.seconds("2001-01-01T02:00:00+0200") == 0)
  }

  @Test(
    "Refuses invalid dates",
    arguments: [
      "", "2001", "2001-1-1", "2001-13-01", "2001-02-29", "1900-02-29", "2001-01-01T", "2001-01-01T24:00",
      "2001-01-01T00:00:60Z", "2001-01-01T00:00:00.Z", "2001-01-01Z", "2001-01-01T00:00:00Zx", "01-01-2001",
      "2001-01-01T00:00+24:00", "@", "@x", "@1e400",
    ])
  func noMoments(text: String) {
    #expect(ISO8601Reader.seconds(text) == nil)
  }

  @Test("V2 Every date survives its text form bit by bit")
  func exactMoments() throws {
    var random = SystemRandomNumberGenerator()
    for power in -30..<46 {
      for _ in 0..<50 {
        let seconds = Double.random(in: -1...1, using: &random) * pow(2, Double(power))
        let text = DateText.text(seconds)
        let back = try #require(ISO8601Reader.seconds(text))
        #expect(back.bitPattern == TotalOrder.normalized(seconds).bitPattern, "\(seconds) \(text)")
      }
    }
    for seconds in [
      0, Double.leastNonzeroMagnitude, -Double.leastNonzeroMagnitude, 252_423_993_599, -63_113_904_000, 1e300,
      -Double.infinity, 0.1, -0.1, -86400, -86400.000001,
    ] {
      let text = DateText.text(seconds)
      #expect(ISO8601Reader.seconds(text)?.bitPattern == seconds.bitPattern, "\(seconds) \(text)")
    }
  }

  @Test("The calendar agrees with Foundation")
  func calendar() {
    let style = Date.ISO8601FormatStyle()
    for seconds in stride(from: -12_000_000_000.0, to: 200_000_000_000, by: 999_999_937) {
      #expect(DateText.text(seconds) == Date(timeIntervalSinceReferenceDate: seconds).formatted(style))
    }
  }

  @Test("Escapes control characters, and measures text in columns")
  func terminal() {
    #expect(TerminalText.safe("a\u{1B}[2J\nb\u{202E}") == "a\\u{1b}[2J\\nb\\u{202e}")
    #expect(TerminalText.width("日本") == 4)
    #expect(TerminalText.cut("abcdef", to: 4) == "abc…")
    #expect(TerminalText.padded("e\u{301}", to: 3) == "e\u{301}  ")
  }

  @Test("Parses field lists with commas, minus signs and quotation marks")
  func lists() throws {
    let parts = try FieldNames.list("title, -\"a,b \"\"c\"\"\" ,-Production Budget")
    #expect(parts.map(\.name) == ["title", "a,b \"c\"", "Production Budget"])
    #expect(parts.map(\.isDescending) == [false, true, true])
    let marks = try FieldNames.list("a,\u{301}b,-\"\u{301}c,\"\"\u{301}d\",-\u{301}e")
    #expect(
      marks.map { Array($0.name.utf8) }
        == ["a", "\u{301}b", "\u{301}c,\"\u{301}d", "\u{301}e"].map { Array($0.utf8) })
    #expect(marks.map(\.isDescending) == [false, false, true, true])
    for text in ["", ",", "a,", "\"a", "\"a\"b", "-"] {
      #expect(throws: FieldListError.self) { try FieldNames.list(text) }
    }
  }

  @Test("Quotes names that conditions require to be quoted")
  func quoting() {
    #expect(FieldNames.quoted("title_2") == "title_2")
    #expect(FieldNames.quoted("MPAA Rating") == "\"MPAA Rating\"")
    #expect(FieldNames.quoted("a\"b") == "\"a\"\"b\"")
    #expect(FieldNames.quoted("a\"\u{301}b") == "\"a\"\"\u{301}b\"")
    #expect(PersistentValue.text("a'\u{301}b").description == "'a''\u{301}b'")
    #expect(FieldNames.quoted("2x") == "\"2x\"")
    #expect(FieldNames.quoted("") == "\"\"")
  }

  @Test("CSV and shell quoting find delimiters before combining scalars")
  func combiningMarks() {
    let line = DelimitedText.line(["a\"\u{301}b", ",\u{301}"])
    #expect(Array(line.utf8) == Array("\"a\"\"\u{301}b\",\",\u{301}\"\r\n".utf8))
    #expect(
      Array(ShellText.quoted("it's '\u{301}x").utf8) == Array("'it'\\''s '\\''\u{301}x'".utf8))
  }
}
