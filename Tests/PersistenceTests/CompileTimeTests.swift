import Testing

/// Key paths, literals and overloaded operators slow compilers down and make their messages obscure.
@Suite("Compile times and compile errors of conditions")
struct CompileTimeTests {
  /// The source before an expression.
  private static let before = """
    import Foundation
    import PersistenceCore

    func query(_ repository: any PersistentRepository, _ date: Date) throws {
      _ = repository.filter(
        Film.self,
        where:
    """
  private static var firstLine: Int {
    before.split(separator: "\n", omittingEmptySubsequences: false).count + 1
  }

  /// The remarks on a condition; one that takes too long is an error.
  private static func remarks(on condition: String) throws -> [Typechecker.Remark] {
    try Typechecker.remarks(on: before + "\n" + condition + "\n)\n}\n")
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

  @Test("The compiler finds the types of twenty clauses in few steps", arguments: long)
  func twentyClauses(condition: String) throws {
    let clauses = condition.matches(of: /&&|\|\|/).count + 1
    #expect(clauses == 20)
    let remarks = try Self.remarks(on: condition)
    #expect(remarks.isEmpty, "\(remarks)")
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

  @Test(
    "A mismatched type is one error on its line, alone and among twenty clauses",
    arguments: mistakes, [1, 20])
  func wrongType(clause: String, clauses: Int) throws {
    try Self.expectOneError(for: clause, among: clauses, saying: "of its own type")
  }

  @Test("Ranges without their upper bound compile, for optional properties too")
  func halfOpenRanges() throws {
    let remarks = try Self.remarks(
      on: ".between(\\.year, 1..<5) && .between(\\.gross, 1..<5) && !.between(\\.title, \"a\"..<\"b\")")
    #expect(remarks.isEmpty, "\(remarks)")
  }

  /// Clauses whose key path names no property, one on each line.
  ///
  /// The compiler's message is a literal of the library, so the name appears only in the line that the error quotes.
  private static let misspelt = [
    "\\.titel == \"x\"", "\\.jahr > 5", "\\.titel == \\.title", "\\.untertitel == nil",
    ".hasPrefix(\\.titel, \"x\")", ".in(\\.jahr, [1, 2])", "!.between(\\.jahr, 1...2)",
  ]

  @Test(
    "A misspelt property is one error on its line, alone and among twenty clauses",
    arguments: misspelt, [1, 20])
  func misspeltProperty(clause: String, clauses: Int) throws {
    try Self.expectOneError(for: clause, among: clauses, saying: "names no property of the model")
  }

  @Test(
    "A comparison with nil of a property that is not optional says so",
    arguments: ["\\.title == nil", "\\.year != nil"], [1, 20])
  func neverNil(clause: String, clauses: Int) throws {
    try Self.expectOneError(for: clause, among: clauses, saying: "is not optional, so it is never nil")
  }

  @Test("A misspelt property of a sort is one error on its line")
  func misspeltSort() throws {
    let remarks = try Self.remarks(on: "\\.year == 1990)\n.sorted(by: \\.titel")
    let error = try #require(remarks.first { $0.text.hasPrefix("error:") }, "\(remarks)")
    #expect(error.line == Self.firstLine + 1, "\(remarks)")
    #expect(error.text.contains("names no property of the model"), "\(remarks)")
  }

  private static func expectOneError(for clause: String, among clauses: Int, saying reason: String) throws {
    var lines = Array(Self.clauses.prefix(clauses))
    let place = clauses / 2
    lines[place] = clause
    let remarks = try remarks(on: lines.joined(separator: "\n && "))
    let errors = remarks.filter { $0.text.hasPrefix("error:") }
    #expect(errors.count == 1, "\(remarks)")
    let error = try #require(errors.first)
    #expect(error.line == firstLine + place, "\(remarks)")
    #expect(error.text.contains(reason), "\(remarks)")
  }

  @Test("An error about a non-condition names the actual and the expected type")
  func noCondition() throws {
    let remarks = try Self.remarks(on: "\\.year == 1990\n && \"x\"")
    let errors = remarks.filter { $0.text.hasPrefix("error:") }
    #expect(errors.count == 1, "\(remarks)")
    let error = try #require(errors.first)
    #expect(error.line == Self.firstLine + 1, "\(remarks)")
    #expect(error.text.contains("String") && error.text.contains("PersistentPredicate<Film>"), "\(remarks)")
  }
}
