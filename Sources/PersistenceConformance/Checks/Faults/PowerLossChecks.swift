import PersistenceCore

/// W5: the loss of power.
enum PowerLossChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "after a loss of power at any moment, the store opens and has exactly the acknowledged transactions",
      [.w5], needs: needs, powerLoss
    ).slow,
    ConformanceCheck(
      "no reader sees a transaction that a loss of power can undo", [.w5, .r2], needs: needs, readers
    ).slow,
  ]

  static let needs: [Requirement] = [.writable, .durable, .files, .recordedFileCalls]

  @Sendable private static func powerLoss(_ context: ContextUnderTest) throws {
    var random = SeededGenerator(seed: context.seed ?? 76)
    var states: Set<Int> = []
    // A thorough run goes on with other scripts until it has opened 2,000 different states.
    repeat {
      let seed = random.next()
      let outcome = try RecordedStore(context: context, seed: seed).runCompletely("script", ["2", "6"])
      let opened = try PowerLossTrial(
        context: context, seed: seed, limit: context.effort.times(120, thorough: 500)
      ).check(outcome.run)
      try expect(!opened.isSubset(of: states), "script \(seed) leaves no state that was not opened before")
      states.formUnion(opened)
    } while states.count < context.effort.times(1, thorough: 2_000)
    CheckTrace.count("different states after a loss of power", states.count)
  }

  @Sendable private static func readers(_ context: ContextUnderTest) throws {
    let seed = context.seed ?? 77
    let isShared = try context.capabilities().isMultiProcess
    let outcome = try RecordedStore(context: context, seed: seed)
      .runCompletely("watch", ["1", "4", "\(isShared)"])
    let opened = try PowerLossTrial(
      context: context, seed: seed, limit: context.effort.times(60, thorough: 300)
    ).check(outcome.run)
    CheckTrace.count("different states after a loss of power", opened.count)
  }
}
