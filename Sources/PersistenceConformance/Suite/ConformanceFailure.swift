/// A breach of the contract: the expected and the found behavior, and the line of the check.
public struct ConformanceFailure: Error, Sendable, Codable {
  /// The case, with its values.
  public let subject: String
  /// The behavior that the contract requires.
  public let expected: String
  /// The behavior of the context.
  public let found: String
  /// The file of the check.
  public let file: String
  /// The line of the check.
  public let line: Int

  init(_ subject: String, expected: String, found: String, file: StaticString, line: UInt) {
    self.subject = subject
    self.expected = expected
    self.found = found
    self.file = "\(file)"
    self.line = Int(line)
  }
}

extension ConformanceFailure: CustomStringConvertible {
  /// The failure as a few lines of text.
  public var description: String {
    (subject.isEmpty ? "" : subject + "\n") + "  expected: \(expected)\n  found:    \(found)\n"
      + "  at \(file):\(line)"
  }
}
