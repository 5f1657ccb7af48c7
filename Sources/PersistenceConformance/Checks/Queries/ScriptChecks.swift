import Foundation
import PersistenceCore

/// V7: text search in every script, and random patterns.
enum ScriptChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "every text search, with and without case and with nil, follows each scalar's lower-case"
        + " mapping in every script", [.v7], scripts),
    ConformanceCheck(
      "a case-insensitive search finds every scalar by its lower-case mapping, and the mapping"
        + " by the scalar", [.v7], allCased),
    ConformanceCheck(
      "random like patterns with wildcards and escapes match as documented", [.v7], randomPatterns),
    ConformanceCheck(
      "wildcards, quotes and escapes of any engine are literal in a search text", [.v7], wildcardsAsData),
  ]

  private typealias Model = Sample<String>

  /// Both cases in several scripts, and words with difficult case mappings.
  private static let words = [
    "Straße", "STRASSE", "straẞe", "ΟΔΟΣ", "οδος", "οδοσ", "İstanbul", "ISTANBUL", "ıstanbul", "istanbul",
    "Москва", "МОСКВА", "Երևան", "ԵՐԵՒԱՆ", "თბილისი", "ᲗᲑᲘᲚᲘᲡᲘ", "Ⴀⴀ", "𐐔𐐇𐐝", "𐐼𐐯𐑅", "ᏣᎳᎩ", "ꮳꮃꭹ", "ǅ", "ǆ",
    "Ǆ", "Kelvin \u{212A}", "kelvin k", "\u{212B}ngström", "ångström", "A\u{30A}NGSTRÖM", "ÅNGSTRÖM", "ﬃ",
    "FFI", "東京", "a%b_c\\d", "A%B_C\\D", "\u{1E9E}", "ß", "i\u{307}", "İ", "a\u{301}", "\u{C1}", "", "\0A",
    "\0a",
  ]

  private static let needles = [
    "", "s", "S", "ß", "ẞ", "ss", "Σ", "σ", "ς", "οδος", "İ", "i", "I", "ı", "i\u{307}", "\u{307}", "м", "М",
    "ք", "Ե", "ե", "თ", "Თ", "Ⴀ", "ⴀ", "𐐔", "𐐼", "Ꮳ", "ꮳ", "ǅ", "\u{212A}", "k", "å", "\u{212B}", "A\u{30A}",
    "ﬃ", "東", "%", "_", "\\", "B_C", "\0a", "\u{301}",
  ]

  private static func filled(_ context: ContextUnderTest, _ texts: [String]) throws -> (Repository, [Model]) {
    let models = texts.enumerated().map { number, text in
      Model(id: number, value: text, other: "", maybe: nil, perhaps: number.isMultiple(of: 5) ? nil : text)
    }
    let repository = try context.makeRepository(with: models)
    return (repository, models)
  }

  /// Searches of an indexed and of an optional field, with the oracle's result.
  private static func searches(_ search: TextOperator, _ needle: String, _ caseInsensitive: Bool)
    -> [Condition<Model>]
  {
    @Sendable func matches(_ text: String) -> Bool {
      switch search {
      case .contains: TextOracle.contains(text, needle, caseInsensitive: caseInsensitive)
      case .hasPrefix: TextOracle.hasPrefix(text, needle, caseInsensitive: caseInsensitive)
      case .hasSuffix: TextOracle.hasSuffix(text, needle, caseInsensitive: caseInsensitive)
      default: TextOracle.like(text, needle, caseInsensitive: caseInsensitive)
      }
    }
    func node(_ field: String) -> PersistentPredicate<Model> {
      PersistentPredicate(node: .text(field: field, search, needle, isCaseInsensitive: caseInsensitive))
    }
    return [
      Condition(node("value")) { matches($0.value) },
      Condition(node("perhaps")) { $0.perhaps.map(matches) ?? false },
    ]
  }

  @Sendable private static func scripts(_ context: ContextUnderTest) throws {
    let (repository, models) = try filled(context, words)
    for needle in needles {
      for search in [TextOperator.contains, .hasPrefix, .hasSuffix] {
        let inEitherCase = searches(search, needle, true)
        try expect(inEitherCase + searches(search, needle, false).suffix(1), over: models, in: repository)
      }
      // A trailing escape in a pattern is an error.
      guard needle != "\\" else { continue }
      try expect(
        Array(
          searches(.like, needle + "%", true).prefix(1) + searches(.like, "%" + needle + "_", false).suffix(1)
        ), over: models, in: repository)
    }
  }

  @Sendable private static func allCased(_ context: ContextUnderTest) throws {
    let cased = (UInt32(0)...0x1_FFFF).compactMap(Unicode.Scalar.init).map { String($0) }
      .filter { $0.unicodeScalars.first?.properties.lowercaseMapping != $0 }
    let groups = stride(from: 0, to: cased.count, by: 16).map {
      cased[$0..<min($0 + 16, cased.count)].joined(separator: "|")
    }
    let lowered = groups.map { group in group.unicodeScalars.map(\.properties.lowercaseMapping).joined() }
    let repository = try context.makeRepository(
      with: groups.indices.map { Model(id: $0, value: groups[$0], other: lowered[$0]) })
    let query = repository.filter(Model.self)
    for (id, (group, lower)) in zip(groups, lowered).enumerated() {
      try expect(
        query.filter(where: .hasPrefix(\.value, lower, caseInsensitive: true)).ids(),
        equals: [id], "the capitals \(group), searched as \(lower)")
      try expect(
        query.filter(where: .contains(\.other, group, caseInsensitive: true)).ids(),
        equals: [id], "the small letters \(lower), searched as \(group)")
    }
  }

  @Sendable private static func randomPatterns(_ context: ContextUnderTest) throws {
    var random = SeededGenerator(seed: 72)
    func text(_ letters: [String], _ length: ClosedRange<Int>) -> String {
      (0..<random.int(length)).map { _ in random.pick(letters) }.joined()
    }
    let texts = (0..<60).map { _ in text(["a", "b", "A", "é", "%", "_", "\\", "\n", "𐐨", "İ"], 0...7) }
    let (repository, models) = try filled(context, texts)
    for round in 0..<60 {
      let pattern = text(
        ["a", "b", "B", "%", "%", "_", "_", "\\%", "\\_", "\\\\", "\\a", "é", "𐐀", "i\u{307}"], 0...6)
      try expect(searches(.like, pattern, round.isMultiple(of: 2)), over: models, in: repository)
    }
  }

  @Sendable private static func wildcardsAsData(_ context: ContextUnderTest) throws {
    let signs = [
      "%", "_", "*", "?", "[", "]", "[a]", "^", "$", ".", "\\", "\\\\", "'", "''", "\"", "`", ";", "--",
      "\u{1A}",
    ]
    let (repository, models) = try filled(
      context, signs + signs.map { "x" + $0 } + signs.map { $0 + "x" } + ["x", "a", "xax", ""])
    for sign in signs {
      for search in [TextOperator.contains, .hasPrefix, .hasSuffix] {
        let either = searches(search, sign, false).prefix(1) + searches(search, sign, true).suffix(1)
        try expect(Array(either), over: models, in: repository)
      }
    }
  }
}
