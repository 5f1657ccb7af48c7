/// Why a text pattern cannot be used, or was stopped.
package struct TextPatternError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What is wrong, naming the construct in the author's own spelling, as a phrase without a full stop.
  package let reason: String

  /// Where in the pattern, counted in Unicode scalars from 0.
  ///
  /// For a pattern that was stopped while it ran, the place in the *text*, in bytes.
  package let position: Int

  package init(reason: String, position: Int) {
    self.reason = reason
    self.position = position
  }

  package var description: String { "\(reason) (at \(position))" }
}
