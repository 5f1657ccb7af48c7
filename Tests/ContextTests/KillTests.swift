import OurContexts
import PersistenceConformance
import Testing

@Suite("Kills")
struct KillTests {
  @Test("the report of a suite counts what its checks did")
  func counts() async throws {
    let check = try #require(
      ConformanceCheck.all.first { $0.title.hasPrefix("when two writer processes are killed") })
    var context = try #require(ContextUnderTest.ours.first { $0.name == "sqlite" })
    context.effort = .quick
    let report = await ConformanceSuite(checks: [check]).run(on: context)
    #expect(report.entries.map(\.counts) == [["kills": 6]])
  }

  @Test(
    "W5 durable contexts lose nothing in a few kills, and in thousands in make soak",
    arguments: ContextUnderTest.ours + ContextUnderTest.checked)
  func kills(context: ContextUnderTest) async throws {
    let check = try #require(
      ConformanceCheck.all.first { $0.title.hasPrefix("after a kill at a random moment") })
    guard try check.excuse(for: context) == nil else { return }
    var context = context
    var kills = 0
    let start = ContinuousClock.now
    context.seed = 0
    let wanted = Environment.isSoak ? Environment.soakKills : 1
    while kills < wanted {
      // Each seed has transactions and moments of its own.
      context.seed? += 1
      kills += try #require(try await check.work(on: context).counts["kills"])
    }
    print("counted: \(context) \(kills) kills, no transaction lost, in \(ContinuousClock.now - start)")
  }
}
