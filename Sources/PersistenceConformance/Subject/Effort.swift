/// How much work random checks and kill checks do.
public enum Effort: String, Sendable, Hashable, Codable, CaseIterable {
  /// The amount for regular test runs: seconds.
  case quick
  /// Many more kills, rounds and seeds: minutes.
  case thorough

  /// Returns the number for this effort.
  func times(_ quick: Int, thorough: Int) -> Int { self == .quick ? quick : thorough }
}
