import PersistenceConformance
import PersistencePrimitives
import Testing

@Suite("Text needles")
struct TextNeedleTests {
  private func answers(_ needle: String, _ text: String, caseInsensitive: Bool = false) -> [Bool] {
    let needle = TextNeedle(needle, caseInsensitive: caseInsensitive)
    return text.withUnalignedUTF8 { text in
      [needle.isContained(in: text), needle.isPrefix(of: text), needle.isSuffix(of: text)]
    }
  }

  @Test(
    "V7 the needle is literal and scalars are compared",
    arguments: [
      ("", "", [true, true, true]), ("", "abc", [true, true, true]), ("a", "", [false, false, false]),
      ("%", "100%", [true, false, true]), ("_", "ab", [false, false, false]),
      ("*", "a*b", [true, false, false]),
      ("e", "e\u{301}", [true, true, false]), ("\u{301}", "e\u{301}", [true, false, true]),
      ("é", "e\u{301}", [false, false, false]), ("\0", "a\0b", [true, false, false]),
      ("a\0b", "a\0b", [true, true, true]),
      ("👍", "👍🏽", [true, true, false]), ("🏽", "👍🏽", [true, false, true]),
      ("\r", "\r\n", [true, true, false]), ("A", "a", [false, false, false]),
      ("abcd", "abc", [false, false, false]),
    ])
  func literal(needle: String, text: String, expected: [Bool]) {
    #expect(answers(needle, text) == expected)
  }

  @Test(
    "V7 case-insensitive search lower-cases both sides scalar by scalar",
    arguments: [
      ("STRASSE", "straße", [false, false, false]), ("STRAẞE", "Straße", [true, true, true]),
      ("i", "I", [true, true, true]), ("ı", "I", [false, false, false]),
      ("İ", "i\u{307}", [true, true, true]),
      ("I", "İ", [true, true, false]), ("\u{307}", "İ", [true, false, true]),
      ("Σ", "ς", [false, false, false]),
      ("ΟΔΟΣ", "οδοσ", [true, true, true]), ("Ꭰ", "ꭰ", [true, true, true]),
      ("\u{10428}", "\u{10400}", [true, true, true]), ("k", "\u{212A}", [true, true, true]),
      ("\u{212A}elvin", "KELVIN", [true, true, true]), ("É", "e\u{301}", [false, false, false]),
      ("", "İ", [true, true, true]), ("x", "", [false, false, false]),
      ("B\0", "aB\0c", [true, false, false]),
      ("ell", "HELLO", [true, false, false]), ("LLO", "HellO", [true, false, true]),
    ])
  func withoutCase(needle: String, text: String, expected: [Bool]) {
    #expect(answers(needle, text, caseInsensitive: true) == expected)
  }

  @Test("V7 random needles agree with a naive search", arguments: [false, true])
  func oracle(caseInsensitive: Bool) {
    var random = SeededGenerator(seed: 7)
    let alphabet: [Unicode.Scalar] = ["a", "A", "b", "é", "É", "İ", "i", "\u{307}", "\0", "😀"]
    for _ in 0..<6000 {
      let text = random.text(of: alphabet, longest: 40)
      let needle = random.text(of: alphabet, longest: Int.random(in: 0...4, using: &random))
      let hay = caseInsensitive ? text.foldedScalars : Array(text.unicodeScalars)
      let pin = caseInsensitive ? needle.foldedScalars : Array(needle.unicodeScalars)
      let places = (0...max(0, hay.count)).filter { hay[$0...].starts(with: pin) }
      let expected = [
        !places.isEmpty, places.first == 0, pin.isEmpty || places.contains(hay.count - pin.count),
      ]
      #expect(
        answers(needle, text, caseInsensitive: caseInsensitive) == expected,
        "\(needle.debugDescription) in \(text.debugDescription)")
    }
  }

  @Test("V7 a needle is found at every position, including across the pieces of a long text")
  func everyPlace() {
    let needle = TextNeedle("NeedleÉ", caseInsensitive: true)
    let exact = TextNeedle("nEEDLEé")
    for place in Array(0..<80) + Array(16_360..<16_400) {
      for tail in [0, 1, 7, 20_000] {
        let text = String(repeating: "n", count: place) + "nEEDLEé" + String(repeating: "é", count: tail)
        #expect(text.withUnalignedUTF8(needle.isContained))
        #expect(text.withUnalignedUTF8(exact.isContained))
      }
      let without = String(repeating: "n", count: place) + "nEEDLE"
      #expect(!without.withUnalignedUTF8(needle.isContained))
      #expect(!without.withUnalignedUTF8(exact.isContained))
    }
  }

  @Test("V7 hostile texts are searched in linear time", .timeLimit(.minutes(1)), arguments: [false, true])
  func hostile(caseInsensitive: Bool) {
    let half = String(repeating: "a", count: 50_000)
    let text = String(repeating: "a", count: 1_000_000)
    for needle in ["\(half)b\(half)", "b\(half)\(half)", "\(half)ab\(half)a"] {
      let needle = TextNeedle(needle, caseInsensitive: caseInsensitive)
      #expect(!text.withUnalignedUTF8(needle.isContained))
    }
    let last = TextNeedle("\(half)b\(half)", caseInsensitive: caseInsensitive)
    #expect((text + "b" + half).withUnalignedUTF8(last.isContained))
  }
}
