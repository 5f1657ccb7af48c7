import Foundation

extension FuzzGenerator {
  /// Groups of texts that a faulty context confuses.
  private static let groups: [[String]] = [
    ["", "a", "a\0", "a\0b", "\0", "\0\0", "a\u{1}", "b", "A"],
    ["", " ", "a", "a ", " a", "\u{E9}", "e\u{301}", "e", "a\t"],
    ["e", "E", "\u{E9}", "\u{C9}", "e\u{301}", "E\u{301}", "\u{301}", "\u{301}e"],
    ["a", "A", "b", "B", "ab", "aB", "AB", "ba", "aab", "\u{E9}", "e\u{301}"],
    ["a%", "a%b", "a_b", "ab", "axb", "%", "_", "*", "a*", "e\u{301}", "\u{C9}"],
    ["\\", "\\%", "a\\", "a\\b", "%", "a", "ab", "'", "\""],
    ["ß", "SS", "ss", "İ", "i\u{307}", "I", "ı", "i", "\u{307}"],
    ["ς", "Σ", "σ", "K", "k", "\u{212A}", "\u{212B}", "Å", "å", "Ω", "\u{2126}", "ω"],
    ["\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}", "\u{FEFF}", "\u{7F}", "\u{80}"],
    ["👩", "👩‍👩‍👧‍👦", "👦", "\u{200D}", "🇩🇪", "🇩", "🇪"],
    ["7", "007", "7.0", "10", "9", "e", "e\u{301}", "1e3", "NaN", "nil", "null", "x'00'"],
    ["\n", "\r\n", "\r", "a\nb", "a", "b", "\u{2028}", ""],
    ["a|", "a", "|b", "b", "|", "a|b", "a/", "/b", "", ","],
  ]

  /// In every pool, because forms of one letter reveal defects of bytes, of scalars and of case.
  private static let accented = ["e", "\u{E9}", "e\u{301}", "\u{C9}"]

  /// A text that a faulty context confuses with another one; where case does not matter, half of those with another normal
  /// form differ in case instead.
  mutating func lookAlike(_ text: String, ignoringCase: Bool = false) -> String {
    let scalars = text.unicodeScalars
    let forms = [text.decomposedStringWithCanonicalMapping, text.precomposedStringWithCanonicalMapping]
    if let other = forms.first(where: { !$0.unicodeScalars.elementsEqual(scalars) }) {
      let share = random.int(1...100)
      if share <= (ignoringCase ? 20 : 60) { return other }
      if share <= 60 { return Self.otherCase(text) }
    }
    switch random.int(0...8) {
    case 0: return text + " "
    case 1: return text + "\0"
    case 2: return String(text.unicodeScalars.dropLast())
    default: return Self.otherCase(text)
    }
  }

  private static func otherCase(_ text: String) -> String {
    FuzzValue.isSameName(text, text.uppercased()) ? text.lowercased() : text.uppercased()
  }

  /// Some texts from few groups, so that similar texts meet; `share` is the percentage from the groups.
  mutating func texts(_ count: Int, share: Int) -> [String] {
    let group = random.pick(Self.groups) + random.pick(Self.groups) + Self.accented
    var texts: [String] = []
    for number in 0..<count {
      if number < 40, chance(share) {
        var text = random.pick(group)
        while chance(25) { text += random.pick(group) }
        texts.append(chance(6) ? longText() : text)
      } else {
        texts.append((number % 3 == 0 ? "a" : "") + "\(number)")
      }
    }
    return texts
  }
}
