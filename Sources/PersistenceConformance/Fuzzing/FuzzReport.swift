/// The progress of a fuzzer.
public struct FuzzProgress: Sendable {
  /// The number of operations so far.
  public var operations = 0
  /// The total number of operations.
  public var total: Int
  /// The number of programs so far.
  public var programs = 0
}

/// The result of a fuzzer's run.
public struct FuzzReport: Sendable, Codable {
  /// The seed, which reproduces the same programs.
  public var seed: UInt64
  /// The number of operations, each run on every context.
  public var operations = 0
  /// The number of programs.
  public var programs = 0
  /// The differences between contexts and the reference model, each with its smallest program.
  public var differences: [FuzzDifference] = []
}
