import OurContexts
import PersistenceConformance
import Testing

@Suite("Fuzzing", .serialized)
struct FuzzTests {
  @Test(
    "all contexts give the same results as the reference model, step by step",
    arguments: [1, 2, 3] as [UInt64])
  func agreement(seed: UInt64) throws {
    let report = try Fuzzer(seed: seed, operations: 3000).run(on: ContextUnderTest.ours)
    #expect(report.operations >= 3000)
    for difference in report.differences { Issue.record("\(difference)\n\(difference.testSource())") }
  }

  @Test("all wrappers give the same results as the reference model")
  func wrappers() throws {
    let report = try Fuzzer(seed: 4, operations: 2000).run(on: ContextUnderTest.wrapped)
    for difference in report.differences { Issue.record("\(difference)\n\(difference.testSource())") }
  }
}
