/// That a context broke the contract: what was expected, what was found, and where that was looked at.
public struct ConformanceFailure: Error, Sendable, Codable {
  /// What was looked at: the case, with the values that make it.
  public let subject: String
  /// What the contract asks for.
  public let expected: String
  /// What the context did.
  public let found: String
  /// The file of the check.
  public let file: String
  /// The line of the check.
  public let line: Int

  /// Makes a failure.
  init(_ subject: String, expected: String, found: String, file: StaticString, line: UInt) {
    self.subject = subject
    self.expected = expected
    self.found = found
    self.file = "\(file)"
    self.line = Int(line)
  }
}

extension ConformanceFailure: CustomStringConvertible {
  /// The failure in a few lines.
  public var description: String {
    (subject.isEmpty ? "" : subject + "\n") + "  expected: \(expected)\n  found:    \(found)\n"
      + "  at \(file):\(line)"
  }
}
