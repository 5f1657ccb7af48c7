import OurContexts
import Testing

@testable import PersistenceConformance

/// Shows that the checks of power losses can fail, and checks what a person did before the store was there.
@Suite("Power loss")
struct PowerLossTests {
  @Test(
    "W5 the check of power losses fails within a minute for each engine whose syncing is switched off",
    arguments: ContextUnderTest.unsynchronized)
  func unsynchronized(context: ContextUnderTest) async throws {
    let check = try #require(
      ConformanceCheck.all.first { $0.title.hasPrefix("after a loss of power at any moment") })
    if let excuse = try check.excuse(for: context) {
      #if os(Linux)
        Issue.record("\(context) cannot be checked, by \(excuse.capability)")
      #else
        print("excused: \(context) by \(excuse.capability) from \(check)")
      #endif
      return
    }
    // The suite's time limit, because that of a test includes the wait for a thread of the cooperative pool.
    let report = await ConformanceSuite(checks: [check], timeLimit: .seconds(60)).run(on: context)
    let entry = try #require(report.entries.first)
    guard case .broken(let failure) = entry.outcome else {
      Issue.record("a loss of power undoes nothing of \(context)")
      return
    }
    // The check fails for its own reason, and not because the time is over.
    #expect(failure.subject.contains("which was acknowledged"), "\(failure)")
    print("counted: \(context) \(entry.seconds) seconds until \(check) failed")
  }

  @Test(
    "W5 a store in a folder that a person has just made survives a loss of power",
    arguments: ContextUnderTest.ours.filter { $0.name == "json" })
  func madeFolder(context: ContextUnderTest) throws {
    if let obstacle = FileRecorder.obstacle(of: try #require(context.worker)) {
      #if os(Linux)
        Issue.record("\(obstacle)")
      #endif
      return
    }
    // A commit of one record flushes its own files, and not the whole file system with the names that others have made.
    let seed = try #require(
      try (0..<100 as Range<UInt64>).first { seed in
        let state = try CommitScript(seed: seed).state(after: 1)
        return state.accounts.count == 1 && state.people.isEmpty
      })
    try context.withScratch { context in
      let outcome = try RecordedStore(context: context, seed: seed)
        .runCompletely("script", ["1", "1", "made"])
      try PowerLossTrial(context: context, seed: seed, limit: 60).check(outcome.run)
    }
  }
}
