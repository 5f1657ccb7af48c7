/// That a store broke a rule: what was expected, what was found, and where that was looked at.
public struct DataSourceCheckFailure: Error, Sendable, CustomStringConvertible {
  /// What was looked at.
  public let subject: String
  /// What the rule asks for.
  public let expected: String
  /// What the store did.
  public let found: String
  /// The place in the suite.
  public let place: String

  init(_ subject: String, expected: String, found: String, file: StaticString, line: UInt) {
    self.subject = subject
    self.expected = expected
    self.found = found
    place = "\(file):\(line)"
  }

  /// The failure in a few lines.
  public var description: String {
    (subject.isEmpty ? "" : subject + "\n") + "  expected: \(expected)\n  found:    \(found)\n  at \(place)"
  }
}
