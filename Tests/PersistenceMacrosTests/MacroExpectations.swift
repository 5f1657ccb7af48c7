import ExpansionMessages
import ExpansionTesting
import Testing

private let expander = MacroExpander()

/// Expects that a declaration is valid and expands to a source.
func expect(
  _ source: String, expandsTo expanded: String, location: Testing.SourceLocation = #_sourceLocation
) {
  check(source, ExpansionExpectation(expanded: expanded), location)
}

/// Expects one mistake at the `→` in the source, and no extension if the mistake is an error.
///
/// `fixIts` are the titles of the offered fix-its in order, and `fixed` is the source after the first one.
func expect(
  _ source: String, isMistaken message: String, severity: ExpectedMistake.Severity = .error,
  fixIts: [String] = [], fixed: String? = nil, location: Testing.SourceLocation = #_sourceLocation
) {
  let before = source.prefix { $0 != "→" }
  let clean = source.replacing("→", with: "")
  let column =
    before.utf8.count - (before.lastIndex(of: "\n").map { before[...$0].utf8.count } ?? 0) + 1
  let mistake = ExpectedMistake(
    message, line: before.count { $0 == "\n" } + 1, column: column, severity: severity, fixIts: fixIts,
    fixed: fixed)
  let answer = check(clean, ExpansionExpectation(mistake: mistake), location)
  #expect(
    answer?.expanded.contains("nonisolated extension") == (severity != .error),
    "only a valid model is expanded", sourceLocation: location)
}

/// Expects that a declaration is valid, for any expansion.
func expectNoMistake(_ source: String, location: Testing.SourceLocation = #_sourceLocation) {
  let answer = answer(ExpansionRequest(source: source), location)
  #expect(answer?.mistakes == [], sourceLocation: location)
  #expect(answer?.expanded.contains("nonisolated extension") == true, sourceLocation: location)
}

/// The expansion of a source, with or without mistakes.
func expansion(of source: String, _ location: Testing.SourceLocation = #_sourceLocation) -> String {
  answer(ExpansionRequest(source: source), location)?.expanded ?? ""
}

/// The messages of all mistakes in a source.
func mistakes(in source: String, _ location: Testing.SourceLocation = #_sourceLocation) -> [String] {
  answer(ExpansionRequest(source: source), location)?.mistakes ?? ["no answer"]
}

@discardableResult
private func check(
  _ source: String, _ expectation: ExpansionExpectation, _ location: Testing.SourceLocation
) -> ExpansionAnswer? {
  let answer = answer(ExpansionRequest(source: source, expectation: expectation), location)
  for failure in answer?.failures ?? [] { Issue.record("\(failure)", sourceLocation: location) }
  return answer
}

private func answer(_ request: ExpansionRequest, _ location: Testing.SourceLocation) -> ExpansionAnswer? {
  do {
    return try expander.answer(request)
  } catch {
    Issue.record(error, sourceLocation: location)
    return nil
  }
}
