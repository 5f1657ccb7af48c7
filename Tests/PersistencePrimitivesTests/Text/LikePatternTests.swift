import PersistenceConformance
import PersistencePrimitives
import Testing

@Suite("Like patterns")
struct LikePatternTests {
  @Test(
    "V7 wildcards and their escape",
    arguments: [
      ("", "", true), ("", "a", false), ("%", "", true), ("%", "a\n\0😀", true), ("_", "", false),
      ("_", "é", true),
      ("_", "e\u{301}", false), ("__", "e\u{301}", true), ("_", "😀", true), ("_", "\0", true),
      ("_", "\n", true),
      ("a%", "abc", true), ("%c", "abc", true), ("%b%", "abc", true), ("a%c", "ac", true),
      ("a%a", "a", false),
      ("a_c", "abc", true), ("a_c", "ac", false), ("%_%", "", false), ("%_%", "x", true),
      ("%__%", "é", false),
      (#"100\%"#, "100%", true), (#"100\%"#, "100x", false), (#"a\_b"#, "a_b", true),
      (#"a\_b"#, "axb", false),
      (#"\\"#, #"\"#, true), (#"\\%"#, #"\abc"#, true), (#"\n"#, "n", true), (#"\é"#, "é", true),
      ("*", "abc", false), ("[a]", "a", false), ("%a_b%", "xxaab", true), ("%a_b%", "aab", true),
      ("%a_b%", "abb", true), ("%a_b%", "ab", false), ("a\0%", "a\0b", true), ("A", "a", false),
      ("%ab%ab%", "ab", false), ("%ab%ab%", "abab", true), ("x%_é_%y", "xéééy", true),
      ("x%_é_%y", "xééy", false),
      ("%a__%", "ba😀é", true), ("%é_é%", "xéaé", true), ("%é_é%", "ééxx", false),
    ])
  func wildcards(pattern: String, text: String, expected: Bool) throws {
    #expect(try isLike(pattern, text) == expected)
  }

  @Test(
    "V7 case-insensitive patterns match and count folded scalars",
    arguments: [
      ("STRA_E%", "straße 5", true), ("STRASSE", "straße", false), ("_", "İ", false), ("__", "İ", true),
      ("İ%", "i\u{307}x", true), ("%k", "\u{212A}", true), ("Σ", "ς", false), ("%ꭰ_", "Ꭰ😀", true),
      (#"\A\%"#, "a%", true), ("%\u{10400}%", "x\u{10428}y", true), ("I", "ı", false),
    ])
  func withoutCase(pattern: String, text: String, expected: Bool) throws {
    #expect(try isLike(pattern, text, caseInsensitive: true) == expected)
  }

  @Test(
    "V7 a lone backslash at the end is an error with a position",
    arguments: [(#"\"#, 0), (#"abé\"#, 3), (#"%\\\"#, 3), (#"_\%\"#, 3)])
  func loneBackslash(pattern: String, position: Int) throws {
    let error = try #require(throws: TextPatternError.self) { try LikePattern(pattern) }
    #expect(error.position == position)
    #expect(error.reason.contains("lone"))
  }

  @Test(
    "V7 every match begins with the literal prefix",
    arguments: [
      ("abc", "abc", true), ("ab%", "ab", false), ("%ab", "", false), ("_a", "", false), ("é_", "é", false),
      (#"a\%b%c"#, "a%b", false), ("", "", true), (#"a\_"#, "a_", true),
    ])
  func literalPrefix(pattern: String, prefix: String, isLiteral: Bool) throws {
    let like = try LikePattern(pattern)
    #expect(like.literalPrefix == Array(prefix.utf8))
    #expect(like.isLiteral == isLiteral)
    #expect(try LikePattern(pattern, caseInsensitive: true).literalPrefix.isEmpty)
  }

  @Test("V7 random patterns agree with a backtracking matcher", arguments: [false, true])
  func oracle(caseInsensitive: Bool) throws {
    var random = SeededGenerator(seed: 11)
    var matched = 0
    for _ in 0..<20_000 {
      let pattern = random.text(of: ["%", "%", "_", "a", "b", "B", "é", "İ", "i"], longest: 7)
      let text = random.text(of: ["a", "a", "b", "é", "É", "İ", "i", "\u{307}"], longest: 9)
      let wanted = caseInsensitive ? pattern.foldedScalars : Array(pattern.unicodeScalars)
      let scalars = caseInsensitive ? text.foldedScalars : Array(text.unicodeScalars)
      let expected = backtrack(wanted[...], scalars[...])
      matched += expected ? 1 : 0
      #expect(
        try isLike(pattern, text, caseInsensitive: caseInsensitive) == expected,
        "\(pattern.debugDescription) on \(text.debugDescription)")
    }
    #expect(matched > 1000)
  }

  private func backtrack(_ pattern: ArraySlice<Unicode.Scalar>, _ text: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    if first == "%" { return (0...text.count).contains { backtrack(rest, text.dropFirst($0)) } }
    guard let scalar = text.first else { return false }
    return (first == "_" || first == scalar) && backtrack(rest, text.dropFirst())
  }

  @Test("V7 runs longer than a machine word keep every wildcard")
  func longRuns() throws {
    for count in [63, 64, 65, 127, 128, 129, 300] {
      let run = String(repeating: "a_", count: count)
      let pattern = "%x\(run)y%"
      let text = "xab" + String(repeating: "é", count: 3) + "x" + String(repeating: "ab", count: count) + "y"
      #expect(try isLike(pattern, text))
      #expect(try !isLike(pattern, String(text.dropLast())))
      #expect(try !isLike(pattern, String(text.dropLast(3)) + "bby"))
    }
  }

  @Test("V7 hostile patterns are linear or rejected", .timeLimit(.minutes(1)))
  func hostile() throws {
    let text = String(repeating: "a", count: 200_000)
    #expect(try !isLike(String(repeating: "%a", count: 20_000) + "%b%", text))
    #expect(try !isLike("%" + String(repeating: "a", count: 50_000) + "b%", text))
    #expect(try !isLike("%" + String(repeating: "a_", count: 200) + "b%", text))
    #expect(try isLike(String(repeating: "%", count: 100_000), text))
    #expect(try isLike("%" + String(repeating: "_", count: 100_000) + "%", text))
    #expect(throws: TextPatternError.self) {
      try LikePattern("%" + String(repeating: "a_", count: 3000) + "b%")
    }
  }
}
