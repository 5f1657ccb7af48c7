/// A broken rule: the expected and the actual behavior, and the location of the expectation.
public struct DataSourceCheckFailure: Error, Sendable, CustomStringConvertible {
  /// The subject of the expectation.
  public let subject: String
  /// The expected behavior.
  public let expected: String
  /// The actual behavior.
  public let found: String
  /// The location in the suite.
  public let location: String

  init(_ subject: String, expected: String, found: String, file: StaticString, line: UInt) {
    self.subject = subject
    self.expected = expected
    self.found = found
    location = "\(file):\(line)"
  }

  /// The failure in a few lines.
  public var description: String {
    (subject.isEmpty ? "" : subject + "\n")
      + "  expected: \(expected)\n  found:    \(found)\n  at \(location)"
  }
}
