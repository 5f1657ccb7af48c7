import Testing

/// Key paths, literals and overloaded operators slow compilers down and make their messages obscure.
@Suite("Compile times and compile errors of conditions")
struct CompileTimeTests {
  /// A condition, and the remarks of the compiler on its lines.
  private struct Compiled {
    let firstLine: Int
    let remarks: [Typechecker.Remark]

    var errors: [Typechecker.Remark] { remarks.filter { $0.text.hasPrefix("error:") } }
  }

  /// Compiles conditions at once, each in a function of its own; one that takes too long is an error.
  private static func compile(_ conditions: [String]) throws -> [Compiled] {
    var lines = ["import Foundation", "import PersistenceCore"]
    var places: [Range<Int>] = []
    for (number, condition) in conditions.enumerated() {
      lines += [
        "func query\(number)(_ repository: any PersistentRepository, _ date: Date) throws {",
        "  _ = repository.filter(", "    Film.self,", "    where:",
      ]
      let own = condition.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      places.append(lines.count + 1..<lines.count + 1 + own.count)
      lines += own + [")", "}"]
    }
    let remarks = try Typechecker.remarks(on: lines.joined(separator: "\n") + "\n")
    let others = remarks.filter { remark in !places.contains { $0.contains(remark.line) } }
    try #require(others.isEmpty, "\(others)")
    return places.map { place in
      Compiled(firstLine: place.lowerBound, remarks: remarks.filter { place.contains($0.line) })
    }
  }

  /// All kinds of properties.
  private static let clauses = [
    "\\.rating == .g", "\\.budget >= 10_000_000", "\\.year > 1990", "\\.votes != 7", "\\.title != \"x\"",
    "\\.gross > 5", "\\.isSeen == true", "\\.subtitle == nil", "\\.releasedAt < date", "\\.year <= 2020",
    "\\.rating != .r", "\\.budget < 1e9", "\\.year >= 1991", "\\.votes == 8", "\\.title == \"y\"",
    "\\.gross <= 5.5", "\\.isSeen != false", "\\.subtitle != nil", "\\.releasedAt >= date", "\\.year != 2000",
  ]

  private static let long = [
    // A conjunction.
    clauses.joined(separator: " && "),
    // Alternating conjunctions and disjunctions.
    """
    \\.rating == .g && \\.budget >= 10_000_000 || \\.year > 1990 && \\.votes != 7 || \\.title != "x"
      && \\.gross > 5 || \\.isSeen == true && \\.subtitle == nil || \\.votes < 4 && \\.year <= 2020
      || \\.rating != .r && \\.budget < 1e9 || \\.year >= 1991 && \\.votes == 8 || \\.title == "y"
      && \\.gross <= 5.5 || \\.isSeen != false && \\.subtitle != nil || \\.votes >= 2 && \\.year != 2000
    """,
    // Parentheses, negation, functions, and comparisons of two properties.
    """
    (\\.rating == .g || \\.budget >= 10_000_000) && (\\.year > 1990 || .hasPrefix(\\.title, "The "))
      && (!.contains(\\.title, "x") || \\.gross > 5) && (\\.isSeen == true || \\.subtitle == nil)
      && (.between(\\.year, 1990...2020) || \\.releasedAt < date) && (.in(\\.rating, [.pg, .r]) || \\.votes == 3)
      && (\\.gross == nil || \\.budget < 1e9) && (.hasSuffix(\\.subtitle, "!") || \\.year >= 1991)
      && (\\.votes == 8 || !(\\.title == "y")) && (\\.gross <= 5.5 || \\.title == \\.title)
    """,
    // Many clauses on the same property.
    (1...20).map { "\\.year == \($0)" }.joined(separator: " || "),
  ]

  @Test("The compiler finds the types of twenty clauses in few steps")
  func twentyClauses() throws {
    for (condition, compiled) in zip(Self.long, try Self.compile(Self.long)) {
      let clauses = condition.matches(of: /&&|\|\|/).count + 1
      #expect(clauses == 20)
      #expect(compiled.remarks.isEmpty, "\(condition): \(compiled.remarks)")
    }
  }

  /// Clauses with mismatched types, one on each line.
  private static let mistakes = [
    "\\.title == 200", "\\.title != 200", "\\.year == \"1999\"", "\\.gross > \"much\"",
    "\\.gross <= \"much\"",
    "\\.votes < date", "\\.releasedAt >= 1999", "\\.title == [\"a\"]", "\\.year == \\.title",
    "\\.year < \\.budget",
    ".in(\\.rating, [\"G\"])", ".between(\\.year, \"a\"...\"b\")", ".hasPrefix(\\.year, \"19\")",
    "!.contains(\\.title, 5)",
    ".matches(\\.isSeen, \"true\")", ".like(\\.votes, \"1%\", caseInsensitive: true)",
    ".hasSuffix(\\.title, [\"x\"])", ".between(\\.title, 1..<5)", ".between(\\.year, 1.5..<5)",
  ]

  @Test("A mismatched type is one error on its line, alone and among twenty clauses", arguments: [1, 20])
  func wrongType(clauses: Int) throws {
    try Self.expectOneError(for: Self.mistakes, among: clauses, saying: "of its own type")
  }

  @Test("Ranges without their upper bound compile, for optional properties too")
  func halfOpenRanges() throws {
    let condition =
      ".between(\\.year, 1..<5) && .between(\\.gross, 1..<5) && !.between(\\.title, \"a\"..<\"b\")"
    let compiled = try #require(try Self.compile([condition]).first)
    #expect(compiled.remarks.isEmpty, "\(compiled.remarks)")
  }

  /// Clauses whose key path names no property, one on each line.
  ///
  /// The compiler's message is a literal of the library, so the name appears only in the line that the error quotes.
  private static let misspelt = [
    "\\.titel == \"x\"", "\\.jahr > 5", "\\.titel == \\.title", "\\.untertitel == nil",
    ".hasPrefix(\\.titel, \"x\")", ".in(\\.jahr, [1, 2])", "!.between(\\.jahr, 1...2)",
  ]

  @Test("A misspelt property is one error on its line, alone and among twenty clauses", arguments: [1, 20])
  func misspeltProperty(clauses: Int) throws {
    try Self.expectOneError(for: Self.misspelt, among: clauses, saying: "names no property of the model")
  }

  @Test("A comparison with nil of a property that is not optional says so", arguments: [1, 20])
  func neverNil(clauses: Int) throws {
    try Self.expectOneError(
      for: ["\\.title == nil", "\\.year != nil"], among: clauses,
      saying: "is not optional, so it is never nil")
  }

  @Test("A misspelt property of a sort is one error on its line")
  func misspeltSort() throws {
    try Self.expectError(
      of: "\\.year == 1990)\n.sorted(by: \\.titel", in: 1, "names no property of the model")
  }

  @Test("An error about a non-condition names the actual and the expected type")
  func noCondition() throws {
    try Self.expectError(
      of: "\\.year == 1990\n && \"x\"", in: 1, "String", "PersistentPredicate<Film>")
  }

  /// Expects the first error of a condition in one of its lines.
  private static func expectError(of condition: String, in line: Int, _ words: String...) throws {
    let compiled = try #require(try compile([condition]).first)
    let error = try #require(compiled.errors.first)
    #expect(compiled.errors.count == 1 && error.line == compiled.firstLine + line, "\(compiled.remarks)")
    #expect(words.allSatisfy(error.text.contains), "\(compiled.remarks)")
  }

  /// Expects that each clause, alone or among valid ones, is the only error of its condition.
  private static func expectOneError(for wrong: [String], among clauses: Int, saying reason: String) throws {
    let place = clauses / 2
    let conditions = wrong.map { clause in
      var lines = Array(Self.clauses.prefix(clauses))
      lines[place] = clause
      return lines.joined(separator: "\n && ")
    }
    for (clause, compiled) in zip(wrong, try compile(conditions)) {
      #expect(compiled.errors.count == 1, "\(clause): \(compiled.remarks)")
      let error = try #require(compiled.errors.first, "\(clause)")
      #expect(error.line == compiled.firstLine + place, "\(clause): \(compiled.remarks)")
      #expect(error.text.contains(reason), "\(clause): \(compiled.remarks)")
    }
  }
}
