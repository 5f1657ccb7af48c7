import PersistenceCore

/// E5 W5: calls of the file system that fail.
enum FileFaultChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "when any write, opening, rename, map or allocation fails, calls throw typed errors, and the store stays whole",
      [.w5, .e5], needs: PowerLossChecks.needs, faults
    ).slow,
    ConformanceCheck(
      "a failed synchronization is not believed: what is acknowledged afterwards survives a loss of power",
      [.w5, .e5], needs: PowerLossChecks.needs, synchronizations
    ).slow,
  ]

  /// The calls of a class that fail: a sample, or all of them.
  private static func limit(_ context: ContextUnderTest, _ quick: Int) -> Int? {
    context.effort == .quick ? quick : nil
  }

  @Sendable private static func faults(_ context: ContextUnderTest) throws {
    let trial = FaultTrial(context: context, seed: context.seed ?? 78, limit: limit(context, 5), states: 0)
    try expect(trial.check(FileFault.kinds.filter { $0.calls != .sync }) > 0, "no call failed")
  }

  @Sendable private static func synchronizations(_ context: ContextUnderTest) throws {
    try FaultTrial(
      context: context, seed: context.seed ?? 80, limit: limit(context, 5),
      states: context.effort.times(8, thorough: 32)
    ).check(FileFault.kinds.filter { $0.calls == .sync })
  }
}
