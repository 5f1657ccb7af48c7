/// How far a fuzzer has come.
public struct FuzzProgress: Sendable {
  /// How many operations have been run.
  public var operations = 0
  /// How many are to be run.
  public var total: Int
  /// How many programs have been run.
  public var programs = 0
}

/// What a fuzzer's run found.
public struct FuzzReport: Sendable, Codable {
  /// The seed, from which the same programs come again.
  public var seed: UInt64
  /// How many operations were run, each on every context.
  public var operations = 0
  /// How many programs they made up.
  public var programs = 0
  /// What contexts showed otherwise than the reference, each with its least program.
  public var differences: [FuzzDifference] = []
}
