import PersistenceCore

/// V7: regular expressions.
enum PatternChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a malformed pattern makes every call throw at once, also without records", [.v7, .e2], malformed),
    ConformanceCheck(
      "a pattern with catastrophic backtracking is answered or stopped with patternTooSlow", [.v7],
      catastrophic),
    ConformanceCheck(
      "classes, anchors, line ends, quantifiers and scalars of the pattern dialect mean the same"
        + " everywhere", [.v7], dialect),
  ]

  private typealias Model = Sample<String>

  @Sendable private static func malformed(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let bad: [PersistentPredicate<Model>] =
      ["(", ")", "[a", "a{2,1}", "*", "a**b(", "\\", "(?<n", "\\p{Nope}", "a(?=b)", "(a)\\1"].map {
        .matches(\.value, $0)
      } + [
        .like(\.value, "a\\"), .like(\.perhaps, "\\", caseInsensitive: true),
        .matches(\.perhaps, "(", caseInsensitive: true), \.id == 5 && .matches(\.value, "["),
        \.id == 5 || !(.matches(\.value, "[")),
      ]
    for isFilled in [false, true] {
      if isFilled { try repository.save(Model(id: 1, value: "a", other: "")) }
      for predicate in bad {
        let query = repository.filter(Model.self, where: predicate)
        try expectError(.invalidRequest, "\(predicate)") { try query.result() }
        try expectError(.invalidRequest, "\(predicate)") { try query.limit(0).result() }
        try expectError(.invalidRequest, "\(predicate)") { try query.count() }
        try expectError(.invalidRequest, "\(predicate)") { try query.first() }
        try expectError(.invalidRequest, "\(predicate)") { try query.exists() }
        try expectError(.invalidRequest, "\(predicate)") { try query.delete() }
        try repository.transaction { store in
          _ = try expectError(.invalidRequest, "\(predicate)") {
            try store.filter(Model.self, where: predicate).result()
          }
        }
      }
    }
    try expect(repository.count(Model.self), equals: 1)
  }

  @Sendable private static func catastrophic(_ context: ContextUnderTest) throws {
    let long = String(repeating: "a", count: 3000)
    let repository = try context.makeRepository(
      with: [long + "!", long, "b"].enumerated().map { Model(id: $0, value: $1, other: "") })
    let cases: [(String, [Int])] = [
      ("^(a+)+$", [1]), ("^(a|aa)+$", [1]), ("^(a*)*b$", [2]), ("^(.*a){20}$", [1]),
      ("(x+x+)+y", []), ("^([a-z]*)*!$", [0]),
    ]
    for (pattern, expected) in cases {
      do {
        let found = try repository.filter(Model.self, where: .matches(\.value, pattern)).ids()
        try expect(found, equals: expected, pattern)
      } catch let error as PersistenceError {
        try expect(error.code, equals: .patternTooSlow, pattern)
      }
    }
  }

  @Sendable private static func dialect(_ context: ContextUnderTest) throws {
    let texts = [
      "", "a", "a\n", "\na", "a\nb", "é", "e\u{301}", "👩", "A1_", "\0", "٣", "\t", "aaa", "x.y", "\u{FFFF}",
    ]
    let repository = try context.makeRepository(
      with: texts.enumerated().map { Model(id: $0, value: $1, other: "") })
    let cases: [(String, [String])] = [
      ("^a$", ["a"]), ("(?m)^a$", ["a", "a\n", "\na", "a\nb"]), ("\\Aa\\z", ["a"]),
      ("^.$", ["a", "é", "👩", "\0", "٣", "\t", "\u{FFFF}"]), ("a.b", []), ("(?s)a.b", ["a\nb"]),
      ("^..$", ["e\u{301}"]), ("^\\d$", []), ("\\d", ["A1_"]), ("^\\w+$", ["a", "A1_", "aaa"]),
      ("^\\p{L}$", ["a", "é"]), ("^\\p{Nd}$", ["٣"]), ("\\s", ["a\n", "\na", "a\nb", "\t"]),
      ("^a{3}$", ["aaa"]), ("^a{2,}$", ["aaa"]), ("^a{1,2}$", ["a"]), ("^a*?$", ["", "a", "aaa"]),
      ("x\\.y", ["x.y"]), ("\\Qx.y\\E", ["x.y"]), ("^\\x{1F469}$", ["👩"]), ("^\\0$", ["\0"]),
      ("^[^a-z]$", ["é", "👩", "\0", "٣", "\t", "\u{FFFF}"]), ("(?i)^a1_$", ["A1_"]),
      ("^(?:a|x\\.)", ["a", "a\n", "a\nb", "aaa", "x.y"]),
    ]
    for (pattern, expected) in cases {
      let found = try repository.filter(Model.self, where: .matches(\.value, pattern)).result().map(
        \.value.exactText)
      try expect(
        found,
        equals: texts.filter { text in expected.contains { $0.exactText == text.exactText } }.map(
          \.exactText), pattern)
    }
  }
}
