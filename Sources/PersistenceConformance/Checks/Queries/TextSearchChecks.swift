import Foundation
import PersistenceCore

/// V7: text search.
enum TextSearchChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "search texts are literal and compared scalar by scalar, wildcards included", [.v7]
    ) { try search($0, caseInsensitive: false) },
    ConformanceCheck(
      "a case-insensitive search compares each scalar's own lower-case mapping, in every script", [.v7]
    ) { try search($0, caseInsensitive: true) },
    ConformanceCheck("like patterns: %, _ and \\ work as documented", [.v7], like),
    ConformanceCheck(
      "matches has one dialect everywhere, and fetch throws for an invalid pattern", [.v7], matches),
    ConformanceCheck("text searches on a URL use its text", [.v7], urls),
  ]

  private typealias Model = Sample<String>

  private static let needles = [
    "", "a", "A", "\0", "b", "%", "_", "*", "\\", "a%", "e", "\u{301}", "\u{E9}", "e\u{301}", "ß", "ss", "İ",
    "i",
    "ς", "Σ", "σ", "👩", "\u{200D}", "\u{10FFFF}", "'", "\"", "\r", "\n", "\u{FEFF}", "ю", "Ю", "ǆ", "Ǆ", "ǅ",
  ]

  private static let texts =
    String.samples + [
      "100% a_b", "ΑΣ ας", "Straße", "STRASSE", "İstanbul", "istanbul", "ISTANBUL", "Юрий ЮРИЙ", "Ǆ ǅ ǆ",
      "a\nb", "a\\b", "\\%", "one two", "Kelvin \u{212A}", "k", "𐐀𐐨",
    ]

  private static func filled(_ context: ContextUnderTest) throws -> (Repository, [Model]) {
    let models = Self.texts.enumerated().map { number, text in
      Model(id: number, value: text, other: "", maybe: number % 4 == 0 ? nil : text)
    }
    let repository = try context.makeRepository(with: models)
    return (repository, models)
  }

  /// Searches required and optional fields for every needle, and compares with the oracle.
  private static func search(_ context: ContextUnderTest, caseInsensitive: Bool) throws {
    let (repository, models) = try filled(context)
    for needle in Self.needles {
      @Sendable func contains(_ text: String) -> Bool {
        TextOracle.contains(text, needle, caseInsensitive: caseInsensitive)
      }
      @Sendable func hasPrefix(_ text: String) -> Bool {
        TextOracle.hasPrefix(text, needle, caseInsensitive: caseInsensitive)
      }
      try expect(
        [
          Condition(.contains(\Model.value, needle, caseInsensitive: caseInsensitive)) { contains($0.value) },
          Condition(.contains(\Model.maybe, needle, caseInsensitive: caseInsensitive)) {
            $0.maybe.map(contains) ?? false
          },
          Condition(.hasPrefix(\Model.value, needle, caseInsensitive: caseInsensitive)) {
            hasPrefix($0.value)
          },
          Condition(.hasPrefix(\Model.maybe, needle, caseInsensitive: caseInsensitive)) {
            $0.maybe.map(hasPrefix) ?? false
          },
          Condition(.hasSuffix(\Model.value, needle, caseInsensitive: caseInsensitive)) {
            TextOracle.hasSuffix($0.value, needle, caseInsensitive: caseInsensitive)
          },
        ], over: models, in: repository)
    }
  }

  @Sendable private static func like(_ context: ContextUnderTest) throws {
    let (repository, models) = try filled(context)
    let patterns = [
      "", "%", "_", "__", "a%", "%a", "%a%", "a_b", "a\\_b", "%\\%%", "\\\\%", "e_", "_\u{301}", "%\0%",
      "\\a", "_%_", "%%", "100\\% %", "%\n%",
    ]
    for pattern in patterns {
      try expect(
        [
          Condition(.like(\Model.value, pattern)) { TextOracle.like($0.value, pattern) },
          Condition(.like(\Model.maybe, pattern)) { $0.maybe.map { TextOracle.like($0, pattern) } ?? false },
        ], over: models, in: repository)
    }
    try expectError(.invalidRequest) {
      try repository.filter(Model.self, where: .like(\.value, "a\\")).result()
    }
  }

  @Sendable private static func matches(_ context: ContextUnderTest) throws {
    let (repository, models) = try filled(context)
    try expect(
      [
        Condition(.matches(\Model.value, "^a")) {
          TextOracle.hasPrefix($0.value, "a", caseInsensitive: false)
        },
        Condition(.matches(\Model.value, "a|b")) {
          $0.value.unicodeScalars.contains { $0 == "a" || $0 == "b" }
        },
        Condition(.matches(\Model.maybe, "^$")) { $0.maybe.map { $0.unicodeScalars.isEmpty } ?? false },
        Condition(.matches(\Model.value, "[0-9]+")) {
          $0.value.unicodeScalars.contains { ("0"..."9").contains($0) }
        },
        Condition(.matches(\Model.value, "\\x00")) { $0.value.unicodeScalars.contains("\0") },
        Condition(.matches(\Model.value, "straSSE", caseInsensitive: true)) {
          TextOracle.contains($0.value, "straSSE", caseInsensitive: true)
        },
      ], over: models, in: repository)
    for pattern in ["(", "[a", "a{2,1}", "*"] {
      try expectError(.invalidRequest) {
        try repository.filter(Model.self, where: .matches(\.value, pattern)).result()
      }
      try expectError(.invalidRequest) {
        try repository.filter(Model.self, where: .matches(\.value, pattern)).count()
      }
    }
  }

  @Sendable private static func urls(_ context: ContextUnderTest) throws {
    let models = Sample<URL>.all(seed: 13)
    let repository = try context.makeRepository(with: models)
    try expect(
      [
        Condition(.hasPrefix(\Sample<URL>.value, "https:")) { $0.value.absoluteString.hasPrefix("https:") },
        Condition(.contains(\Sample<URL>.maybe, "%20")) { $0.maybe?.absoluteString.contains("%20") ?? false },
        Condition(.like(\Sample<URL>.value, "%/")) { $0.value.absoluteString.hasSuffix("/") },
      ], over: models, in: repository)
  }
}
