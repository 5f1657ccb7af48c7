import PersistenceConformance
import Testing

@testable import PersistencePrimitives

@Suite("Regular expressions: errors and limits")
struct RegularExpressionLimitTests {
  @Test(
    "V7 an invalid pattern is an error that names the construct and its position",
    arguments: [
      (#"(a)\1"#, #"back-reference '\1'"#, 3), (#"\k<n>"#, "back-reference", 0),
      ("(?P=n)", "back-reference", 0),
      ("a(?=b)", "look-ahead", 1), ("a(?!b)", "look-ahead", 1), ("(?<=a)b", "look-behind '(?<='", 0),
      ("é(?<!a)b", "look-behind '(?<!'", 1), ("(?>a)", "atomic", 0), ("a*+", "possessive repetition '*+'", 1),
      ("a{2}+", "possessive", 1), ("a?+", "possessive", 1), ("(?(1)a)", "conditional", 0),
      ("(?R)", "recursion", 0),
      ("(?#x)", "comment", 0), ("(?x)a", "flag 'x'", 0), ("a**", "cannot be repeated", 2),
      ("a{2}{3}", "cannot be repeated", 4),
      ("*a", "nothing to repeat", 0), ("(|+)", "nothing to repeat", 2), ("a|*", "nothing to repeat", 2),
      ("x{1000}{1000}", "cannot be repeated", 7), ("x{1001}", "more than 1000", 1),
      ("x{2,1}", "minimum above", 1),
      ("x{99999999999999999999}", "more than 1000", 1), ("(a", "not closed", 0), ("a)", "no matching", 1),
      ("[a", "not closed", 0), ("[]", "not closed", 0), ("[b-a]", "reversed", 1),
      (#"[a-\d]"#, "cannot end a range", 3),
      ("[[:foo:]]", "POSIX", 1), (#"a\"#, "lone", 1), (#"\Z"#, #"'\z'"#, 0), (#"\C"#, #"'\C'"#, 0),
      (#"\é"#, #"'\é'"#, 0),
      (#"\xg1"#, "hexadecimal", 0), (#"\x{110000}"#, "not a Unicode scalar", 0),
      (#"\x{D800}"#, "not a Unicode scalar", 0),
      (#"\x{41"#, "hexadecimal", 0), (#"\p{Greek}"#, "scripts are not supported", 0),
      (#"\pX"#, "general category", 0),
      (#"\p{L"#, "not closed", 0), (#"\p"#, "no name", 0), ("(?P<a-b>x)", "group's name", 5),
      ("(?P<>x)", "name is missing", 0),
      ("(?i", "not closed", 0), ("(?i-)", "not a group or flag", 0), ("\\\u{85}", #"'\\u{85}'"#, 0),
    ])
  func errors(pattern: String, reason: String, position: Int) throws {
    let error = try #require(throws: TextPatternError.self) { try RegularExpressionPattern(pattern) }
    #expect(error.reason.contains(reason), "\(error)")
    #expect(error.position == position, "\(error)")
  }

  @Test(
    "V7 an oversized pattern is rejected before compilation", .timeLimit(.minutes(1)),
    arguments: [
      "(x{1000}){1000}", "((x{100}){100}){100}", "((((((a?){1000}){1000}){1000}){1000}){1000}){1000}",
      String(repeating: "a", count: 20_000), String(repeating: "[ab]", count: 100_000),
      String(repeating: "x|", count: 100_000),
    ])
  func tooLarge(pattern: String) throws {
    let error = try #require(throws: TextPatternError.self) { try RegularExpressionPattern(pattern) }
    #expect(error.reason.contains("pattern too large"), "\(error)")
  }

  @Test("V7 nested repetitions of the empty text are cheap", .timeLimit(.minutes(1)))
  func emptyRepetitions() throws {
    #expect(try isFound("^(((((){1000}){1000}){1000}){1000}){1000}$", in: ""))
    #expect(try isFound("^(((((a{0}){1000}){1000}){1000}){1000}){1000}$", in: ""))
  }

  @Test("V7 deep nesting is rejected, and never overflows the stack", .timeLimit(.minutes(1)))
  func nesting() throws {
    for opening in ["(", "(?:", "((?i)", "(a|", "(?<n>"] {
      let error = try #require(throws: TextPatternError.self) {
        try RegularExpressionPattern(String(repeating: opening, count: 100_000 / opening.utf8.count))
      }
      #expect(error.reason.contains("nested"), "\(error)")
    }
    let deepest = RegularExpressionParser.deepestGroup
    let pattern =
      "^" + String(repeating: "(b|", count: deepest) + "a" + String(repeating: ")*", count: deepest) + "$"
    #expect(try isFound(pattern, in: "abba"))
    #expect(try !isFound(pattern, in: "abca"))
  }

  @Test(
    "V7 patterns that break backtracking engines take linear time", .timeLimit(.minutes(1)),
    arguments: [
      "(a*)*b", "(a|aa)+b$", "(a|a)*b", "(.*)(.*)(.*)(.*)(.*)(.*)[^a]", "(a?){30}a{30}b", "a*a*a*a*a*a*b",
    ])
  func hostile(pattern: String) throws {
    let text = String(repeating: "a", count: 20_000)
    #expect(try !isFound(pattern, in: text))
    #expect(try isFound(pattern, in: text + "b"))
    #expect(try isFound("(a|aa)+$", in: text))
  }

  /// A text of `a` and `b` on which ``exponential(_:)`` rarely returns to a state.
  private func noise(_ count: Int) -> String {
    var random = SeededGenerator(seed: 5)
    return String(
      decoding: (0..<count).map { _ in UInt8.random(in: 0x61...0x62, using: &random) }, as: UTF8.self)
  }

  private func exponential(_ tail: String) throws -> RegularExpressionPattern {
    try RegularExpressionPattern("a[ab]{25}" + tail)
  }

  @Test("V7 an automaton that outgrows its memory continues without it", arguments: ["", #"\b"#, "(?m:$)"])
  func thrashing(condition: String) throws {
    let text = noise(60_000)
    let missing = try exponential("c" + condition)
    #expect(try !text.withUnalignedUTF8(missing.matches))
    #expect(try !text.withUnalignedUTF8(missing.matches))
    let end = text.dropLast(40) + "a" + text.suffix(25) + "c"
    #expect(try String(end).withUnalignedUTF8(missing.matches))
    #expect(try (String(end) + "\n").withUnalignedUTF8(missing.matches))
    #expect(try "".withUnalignedUTF8(missing.matches) == false)
  }

  @Test("V7 a pattern that exceeds the step limit stops at the same position, with any cached states")
  func stepLimit() throws {
    let text = noise(50_000)
    let pattern = try RegularExpressionPattern("a[ab]{25}c", stepLimit: 100_000)
    let errors = try (0..<3).map { _ in
      try #require(throws: TextPatternError.self) { try text.withUnalignedUTF8(pattern.matches) }
    }
    #expect(errors[0].reason.contains("stopped after 100000 steps"))
    #expect(errors[0].position == errors[1].position)
    #expect(errors[1].position == errors[2].position)
    #expect(try !"aaab".withUnalignedUTF8(pattern.matches), "usable afterwards")
    #expect(try !isFound("a[ab]{25}c", in: text))
    let exact = try RegularExpressionPattern("b", stepLimit: 10)
    #expect(try !String(repeating: "a", count: 10).withUnalignedUTF8(exact.matches))
    #expect(throws: TextPatternError.self) {
      try String(repeating: "a", count: 11).withUnalignedUTF8(exact.matches)
    }
  }

  @Test("C1 threads can use one pattern concurrently")
  func threads() async throws {
    let pattern = try RegularExpressionPattern(#"\b(a|é)[ab]{3,9}\b.*ж$"#, caseInsensitive: true)
    var random = SeededGenerator(seed: 9)
    let texts = (0..<300).map { _ in random.text(of: ["a", "B", "É", "b", " ", "Ж", "ж"], longest: 14) }
    let expected = try texts.map { try $0.withUnalignedUTF8(pattern.matches) }
    #expect(expected.contains(true) && expected.contains(false))
    try await withThrowingTaskGroup(of: [Bool].self) { group in
      for _ in 0..<16 {
        group.addTask { try texts.map { try $0.withUnalignedUTF8(pattern.matches) } }
      }
      for try await answers in group { #expect(answers == expected) }
    }
  }

  @Test("V7 invalid UTF-8 causes no read beyond its end")
  func malformed() throws {
    let pattern = try RegularExpressionPattern("a.$")
    for bytes: [UInt8] in [
      [0x61, 0xC3], [0x61, 0xF4], [0x61, 0xFF, 0xFF], [0xF7, 0xBF, 0xBF, 0xBF, 0x61, 0x80],
    ] {
      _ = try bytes.withUnsafeBufferPointer(pattern.matches)
    }
  }
}
