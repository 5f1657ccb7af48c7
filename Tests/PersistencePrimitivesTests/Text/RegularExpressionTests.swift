import PersistenceConformance
import Testing

@testable import PersistencePrimitives

@Suite("Regular expressions")
struct RegularExpressionTests {
  @Test(
    "V7 the dialect",
    arguments: [
      ("", ["", "a"], []), ("b", ["b", "abc", "b\n"], ["", "a", "B"]), ("^b", ["b", "bc"], ["ab", "a\nb"]),
      ("b$", ["b", "ab"], ["b\n", "ba"]), (#"\Ab\z"#, ["b"], ["b\n", "ab"]),
      ("(?m)^b$", ["a\nb\nc", "b"], ["ab"]),
      ("a.c", ["abc", "a\0c", "a😀c"], ["a\nc", "ac", "ae\u{301}c"]), ("(?s)a.c", ["a\nc"], ["ac"]),
      ("a|b|", ["", "x"], []), ("^(a|b)$", ["a", "b"], ["", "ab"]),
      ("^(?:ab)+$", ["ab", "abab"], ["", "aba"]),
      ("^a{2}$", ["aa"], ["a", "aaa"]), ("^a{2,}$", ["aa", "aaaa"], ["a"]),
      ("^a{1,2}?$", ["a", "aa"], ["", "aaa"]),
      ("^a{0}$", [""], ["a"]), ("a{,3}", ["a{,3}"], ["aaa"]), ("a{2", ["a{2"], ["aa"]), ("}]", ["}]"], ["}"]),
      ("^[a-c]$", ["a", "b", "c"], ["d", "-"]), ("^[^a-c]$", ["d", "\n", "😀"], ["a"]),
      ("^[]a-]$", ["]", "a", "-"], ["b"]),
      ("^[^]a]$", ["b"], ["]", "a"]), (#"^[\]\\\-]$"#, ["]", #"\"#, "-"], ["a"]),
      ("^[é-ж中]$", ["é", "б", "中"], ["e", "я"]),
      (#"^\d\D\w\W\s\S$"#, ["1a_- x", "1éz\u{301}\nx"], ["11a- x", "1aa-\u{B}x"]),
      (#"^[\d\-x]+$"#, ["1-x"], ["y"]),
      (#"^[^\W_]$"#, ["a"], ["_", "é"]), ("^[[:alpha:][:digit:]]+$", ["a1"], ["é", "-"]),
      ("^[[:^space:]]$", ["a"], [" "]),
      (#"\bcat\b"#, ["cat", "a cat.", "écaté"], ["cats", "concat"]), (#"\Bcat"#, ["concat"], ["cat"]),
      (#"^\pL+$"#, ["aéжß中"], ["1", "e\u{301}"]), (#"^\p{Lu}\p{Ll}$"#, ["Éé", "Жж"], ["éÉ"]),
      (#"^\PN$"#, ["a"], ["1", "٣"]),
      (#"^\p{^Lu}$"#, ["a"], ["A"]), (#"^\P{^Lu}$"#, ["A"], ["a"]),
      (#"^[\p{Nd}\pZ]$"#, ["٣", "\u{2003}"], ["a"]),
      (#"^\p{Any}$"#, ["\n", "😀"], [""]), (#"^\pC$"#, ["\0", "\u{E000}"], ["\u{378}", "a"]),
      (#"^\x41\x{1F600}\x{e9}$"#, ["A😀é"], ["A"]), (#"^\a\f\n\r\t\v\0$"#, ["\u{7}\u{C}\n\r\t\u{B}\0"], []),
      (#"^\101\07\12$"#, ["A\u{7}\n"], []), (#"^\Qa.b*\E+$"#, ["a.b*", "a.b**"], ["axb"]),
      (#"\Q(["#, ["(["], ["("]),
      (#"^\.\*\(\[\{\|\_$"#, [".*([{|_"], []), ("(?P<year>[0-9]{4})-(?<m>..)", ["in 1979-05"], ["1979"]),
      ("(?i)straSSe|é", ["STRASSE", "É"], ["straße"]), ("a(?i)b|c", ["aB", "C"], ["Ab"]),
      ("a(?i:b)c", ["aBc"], ["aBC"]),
      ("(?i)a(?-i)b", ["Ab"], ["AB"]), ("(?i-s:a.)b", ["Axb"], ["a\nb", "axB"]), ("(?U)^a+$", ["aa"], ["b"]),
      ("\0", ["a\0b"], ["ab"]), ("^e", ["e\u{301}"], ["é"]), ("^👍.$", ["👍🏽"], ["👍"]),
      ("[^\\x{0}-\\x{10FFFF}]", [], ["", "a"]),
      ("^*", ["", "a"], []), ("(^a|b$)+", ["ax", "xb"], ["xa", "bx"]), ("(a*)*b", ["b", "aab"], ["aa"]),
      ("()|a", ["", "b"], []),
      (#"a\b\B"#, [], ["a", "ab", "a b"]), (#"$^"#, [""], ["a", "\n"]),
      ("(?m)$^", ["", "a\n", "\n\n"], ["a"]),
    ] as [(String, [String], [String])])
  func dialect(pattern: String, found: [String], missed: [String]) throws {
    for text in found { #expect(try isFound(pattern, in: text), "\(text.debugDescription)") }
    for text in missed { #expect(try !isFound(pattern, in: text), "\(text.debugDescription)") }
  }

  @Test(
    "V7 case-insensitive matching compares lower-case mappings",
    arguments: [
      ("^STRASSE$", ["strasse"], ["straße"]), ("ß", ["ẞ"], ["ss"]), ("^i$", ["I", "i"], ["ı", "İ"]),
      ("^İ$", ["İ"], ["i", "i\u{307}"]),
      ("^σ$", ["Σ", "σ"], ["ς"]), ("^[α-ω]+$", ["ΑΣΩ"], ["a"]), ("^Ꭰ$", ["ꭰ", "Ꭰ"], ["Ꭱ"]),
      ("^\u{10400}$", ["\u{10428}"], ["a"]),
      ("^k$", ["K", "\u{212A}"], []), ("^[J-L]$", ["k", "\u{212A}"], ["m"]),
      ("^[^k]$", ["j"], ["K", "k", "\u{212A}"]),
      (#"^\p{Lu}$"#, ["a", "Ж"], ["1"]), (#"^\w$"#, ["\u{212A}"], ["é"]), (#"^\W$"#, ["é"], ["\u{212A}"]),
      ("(?-i)a", ["a"], ["A"]),
      (#"\Qa.B\E"#, ["A.b"], ["axb"]), ("^å$", ["Å", "\u{212B}"], ["a"]),
    ] as [(String, [String], [String])])
  func withoutCase(pattern: String, found: [String], missed: [String]) throws {
    for text in found {
      #expect(try isFound(pattern, in: text, caseInsensitive: true), "\(text.debugDescription)")
    }
    for text in missed {
      #expect(try !isFound(pattern, in: text, caseInsensitive: true), "\(text.debugDescription)")
    }
  }

  @Test("V7 random expressions agree with the naive matcher, on new and reused automata")
  func oracle() throws {
    var random = SeededGenerator(seed: 3)
    var matched = 0
    for _ in 0..<2500 {
      let oracle = RegularExpressionOracle.random(depth: 3, using: &random)
      let expression = try RegularExpressionPattern(oracle.pattern)
      for _ in 0..<8 {
        let text = random.text(of: RegularExpressionOracle.alphabet, longest: 7)
        let scalars = Array(text.unicodeScalars)
        let expected = !oracle.ends(from: Set(0...scalars.count), in: scalars).isEmpty
        matched += expected ? 1 : 0
        #expect(
          try text.withUnalignedUTF8(expression.matches) == expected,
          "\(oracle.pattern) in \(text.debugDescription)")
      }
    }
    #expect(2000..<18_000 ~= matched)
  }

  @Test("V7 every scalar has the general category that the standard library gives it")
  func categories() throws {
    let names = """
      Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co
      """.split(separator: " ").map(String.init)
    var owner = [String](repeating: "", count: 0x110000)
    for name in names {
      for range in try #require(ScalarSet.named(name)).ranges {
        for value in range.first...range.last { owner[Int(value)] = name }
      }
    }
    var seen: [Unicode.GeneralCategory: String] = [.unassigned: ""]
    var differing: [UInt32] = []
    for value in UInt32(0)...0x10FFFF {
      guard let category = Unicode.Scalar(value)?.properties.generalCategory else { continue }
      if seen[category, default: owner[Int(value)]] != owner[Int(value)] { differing.append(value) }
      seen[category] = seen[category] ?? owner[Int(value)]
    }
    #expect(differing.isEmpty)
    #expect(Set(seen.values).count == names.count + 1)
  }
}
