/// What a test asks of the macros: to expand a source, and to compare the result with an expectation.
package struct ExpansionRequest: Codable, Sendable {
  package var source: String
  package var expectation: ExpansionExpectation?

  package init(source: String, expectation: ExpansionExpectation? = nil) {
    self.source = source
    self.expectation = expectation
  }
}

/// An expected expansion, with at most one mistake in the source.
package struct ExpansionExpectation: Codable, Sendable {
  /// Nil for any.
  package var expanded: String?
  package var mistake: ExpectedMistake?

  package init(expanded: String? = nil, mistake: ExpectedMistake? = nil) {
    self.expanded = expanded
    self.mistake = mistake
  }
}

/// An expected diagnostic of the macros.
package struct ExpectedMistake: Codable, Sendable {
  package enum Severity: String, Codable, Sendable { case error, warning }

  package var message: String
  /// The line and the column in UTF-8, from 1.
  package var line: Int
  package var column: Int
  package var severity: Severity
  /// The titles of the offered fix-its in order.
  package var fixIts: [String]
  /// The source after the first fix-it.
  package var fixed: String?

  package init(
    _ message: String, line: Int, column: Int, severity: Severity, fixIts: [String], fixed: String?
  ) {
    self.message = message
    self.line = line
    self.column = column
    self.severity = severity
    self.fixIts = fixIts
    self.fixed = fixed
  }
}

/// What the macros make of a source.
package struct ExpansionAnswer: Codable, Sendable {
  package var expanded: String
  /// The messages of all mistakes.
  package var mistakes: [String]
  /// The differences from the expectation, in words.
  package var failures: [String]

  package init(expanded: String, mistakes: [String], failures: [String]) {
    self.expanded = expanded
    self.mistakes = mistakes
    self.failures = failures
  }
}
