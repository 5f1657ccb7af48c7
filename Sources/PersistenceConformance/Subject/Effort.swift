/// How much work checks of chance and of kills do.
public enum Effort: String, Sendable, Hashable, Codable, CaseIterable {
  /// What a test run that stays used can afford: seconds.
  case quick
  /// Many more kills, rounds and seeds: minutes.
  case thorough

  /// The number for this effort.
  func times(_ quick: Int, thorough: Int) -> Int { self == .quick ? quick : thorough }
}
