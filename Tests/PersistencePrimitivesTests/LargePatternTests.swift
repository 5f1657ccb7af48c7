import PersistencePrimitives
import Testing

/// Patterns that are short for what they mean.
struct LargePatternTests {
  private static func matches(_ pattern: String, _ text: String) throws -> Bool {
    let pattern = try RegularExpressionPattern(pattern)
    var text = text
    return try text.withUTF8 { try pattern.matches($0) }
  }

  @Test("V7 thousands of large classes in one pattern share their sets")
  func classes() throws {
    let letters = "(?i)" + String(repeating: #"\pL"#, count: 4000)
    #expect(try Self.matches(letters, String(repeating: "x", count: 4000)))
    #expect(try !Self.matches(letters, String(repeating: "x", count: 3999)))
    #expect(try Self.matches(#"^\pL\PL(?i)\p{Lu}\P{Lu}$"#, "a1b2"))
    #expect(try !Self.matches(#"^\pL\PL\p{Lu}$"#, "a1b"))
  }

  @Test("V7 a pattern that cannot fit is refused before all of it is read")
  func tooLarge() {
    #expect(throws: TextPatternError.self) {
      try RegularExpressionPattern("(?i)" + String(repeating: #"[\pL\PN]"#, count: 20_000) + "(")
    }
  }
}
