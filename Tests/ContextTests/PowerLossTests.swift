import OurContexts
import PersistenceConformance
import Testing

/// Shows that the checks of power losses can fail.
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
}
