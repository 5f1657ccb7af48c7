import Testing

/// Key paths, literals and overloaded operators are what makes compilers slow, and their messages dark.
@Suite("What the compiler makes of conditions")
struct CompileTimeTests {
  /// The lines before an expression of the source in which it stands.
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

  private static func remarks(on condition: String) throws -> [Typechecker.Remark] {
    try Typechecker.remarks(on: before + "\n" + condition + "\n)\n}\n")
  }

  private static let long = [
    // All kinds of properties, all of which must hold.
    """
    \\.rating == .g && \\.budget >= 10_000_000 && \\.year > 1990 && \\.votes != 7 && \\.title != "x"
      && \\.gross > 5 && \\.isSeen == true && \\.subtitle == nil && \\.releasedAt < date && \\.year <= 2020
      && \\.rating != .r && \\.budget < 1e9 && \\.year >= 1991 && \\.votes == 8 && \\.title == "y"
      && \\.gross <= 5.5 && \\.isSeen != false && \\.subtitle != nil && \\.releasedAt >= date && \\.year != 2000
    """,
    // And and or, one after the other.
    """
    \\.rating == .g && \\.budget >= 10_000_000 || \\.year > 1990 && \\.votes != 7 || \\.title != "x"
      && \\.gross > 5 || \\.isSeen == true && \\.subtitle == nil || \\.votes < 4 && \\.year <= 2020
      || \\.rating != .r && \\.budget < 1e9 || \\.year >= 1991 && \\.votes == 8 || \\.title == "y"
      && \\.gross <= 5.5 || \\.isSeen != false && \\.subtitle != nil || \\.votes >= 2 && \\.year != 2000
    """,
    // Brackets, negation, functions, and a property beside a property.
    """
    (\\.rating == .g || \\.budget >= 10_000_000) && (\\.year > 1990 || .hasPrefix(\\.title, "The "))
      && (!.contains(\\.title, "x") || \\.gross > 5) && (\\.isSeen == true || \\.subtitle == nil)
      && (.between(\\.year, 1990...2020) || \\.releasedAt < date) && (.in(\\.rating, [.pg, .r]) || \\.votes == 3)
      && (\\.gross == nil || \\.budget < 1e9) && (.hasSuffix(\\.subtitle, "!") || \\.year >= 1991)
      && (\\.votes == 8 || !(\\.title == "y")) && (\\.gross <= 5.5 || \\.title == \\.title)
    """,
    // One property, again and again.
    (1...20).map { "\\.year == \($0)" }.joined(separator: " || "),
  ]

  @Test("Twenty clauses compile in under a second", arguments: long)
  func twentyClauses(condition: String) throws {
    let clauses = condition.matches(of: /&&|\|\|/).count + 1
    #expect(clauses == 20)
    let remarks = try Self.remarks(on: condition)
    #expect(remarks.isEmpty, "\(remarks)")
  }

  /// Conditions with a mistake, the line of it, and the types that the message must name.
  private static let mistakes: [(condition: String, line: Int, types: [String])] = [
    ("\\.title == 200", 0, ["String", "Int"]),
    ("\\.year == \"1999\"", 0, ["Int", "String"]),
    ("\\.year > 1990\n && \\.title == 200", 1, ["String", "Int"]),
    ("\\.year > 1990\n && \\.gross > \"much\"\n && \\.votes < 5", 1, ["Double", "String"]),
    ("\\.year == \\.title", 0, ["Int", "String"]),
    (".in(\\.rating, [\"G\"])", 0, ["String", "Rating"]),
    ("\\.year > 1990\n && .hasPrefix(\\.year, \"19\")", 1, ["Int", "PersistentText"]),
    ("\\.year == 1990\n && \"x\"", 1, ["String", "PersistentPredicate<Film>"]),
  ]

  @Test("A wrong type is named at its place, beside the type that was expected", arguments: mistakes.indices)
  func wrongType(number: Int) throws {
    let mistake = Self.mistakes[number]
    let remarks = try Self.remarks(on: mistake.condition)
    let errors = remarks.filter { $0.text.hasPrefix("error:") }
    #expect(errors.count == 1, "\(remarks)")
    let error = try #require(errors.first)
    #expect(error.line == Self.firstLine + mistake.line, "\(remarks)")
    for type in mistake.types { #expect(error.text.contains(type), "\(remarks)") }
    #expect(
      !remarks.contains { $0.text.contains("reasonable time") || $0.text.contains(" took ") }, "\(remarks)")
  }
}
