/// The limit of all regular expressions of one condition together.
///
/// Each pattern has a limit of its own, which a short text can reach. Without a limit for their sum, a condition of four
/// kilobytes takes fifty megabytes.
package struct PatternBudget {
  /// The maximum number of instructions: that of ten of the largest patterns.
  private static let limit = 100_000

  private var used = 0

  package init() {}

  /// Adds a search; throws ``PersistenceError/Code/invalidRequest`` beyond the limit.
  package mutating func add(_ matcher: TextMatcher) throws {
    used += matcher.patternSize
    guard used <= Self.limit else {
      throw PersistenceError.invalidRequest(
        "the regular expressions of the condition are too large together; use fewer or simpler ones")
    }
  }
}
