/// A breach of the contract: the rule, the case, the expected and the found behavior, and the line of the check.
public struct ConformanceFailure: Error, Sendable, Codable {
  /// The number and the subject of the broken rule, such as `W5 committed transactions are durable`.
  public internal(set) var rule: String
  /// The main sentence of the rule; empty for a failure outside of the suite.
  var sentence = ""
  /// The case, with its values.
  public internal(set) var subject: String
  /// The behavior that the contract requires.
  public let expected: String
  /// The behavior of the context.
  public internal(set) var found: String
  /// What the context did, in one clause.
  let deed: String
  /// The statement of the check; nil if its source cannot be read.
  let source: String?
  /// The file of the check.
  public let file: String
  /// The line of the check.
  public let line: Int
  /// Whether the check had no outcome within its time limit.
  package internal(set) var isTimeout = false

  init(
    _ subject: String, expected: String, found: String, deed: String? = nil, file: StaticString, line: UInt
  ) {
    self.init(subject, expected: expected, found: found, deed: deed, file: "\(file)", line: Int(line))
  }

  init(
    _ subject: String, expected: String, found: String, deed: String? = nil, file: String, line: Int
  ) {
    rule = ""
    self.subject = subject
    self.expected = expected
    self.found = found
    self.deed = deed ?? "found \(Shown.clause(found)), expected \(Shown.clause(expected))"
    source = CheckSource.statement(file, line)
    self.file = file
    self.line = line
  }
}

extension ConformanceFailure: CustomStringConvertible {
  /// The failure as a few lines of text: the first one says what the context did, and quotes the rule.
  public var description: String {
    let what = [subject, deed].filter { !$0.isEmpty }.joined(separator: ": ").replacing("\n", with: " ")
    let number = rule.prefix { $0 != " " }
    let quotation = sentence.isEmpty ? "" : " (\(number): “\(sentence)”)"
    return what + quotation + "\n  expected: \(expected)\n  found:    \(found)\n"
      + (source.map { "  source:   \($0)\n" } ?? "") + "  at \(file):\(line)"
  }
}
