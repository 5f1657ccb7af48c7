import OurContexts
import PersistenceConformance
import Testing

@Suite("Inner loop")
struct InnerLoopTests {
  @Test("the quick checks of durability, sharing and files need no worker, because they start no process")
  func withoutWorker() async throws {
    var context = try #require(ContextUnderTest.ours.first { $0.name == "sqlite" })
    context.worker = nil
    let rules: Set<ContractRule> = [.w5, .w6, .e5, .e8, .c2, .c3, .u2]
    let suite = ConformanceSuite(only: rules, isQuick: true)
    #expect(suite.checks.count > 10)
    for entry in await suite.run(on: context).entries {
      if case .broken(let failure) = entry.outcome { Issue.record("\(failure)") }
    }
  }
}
