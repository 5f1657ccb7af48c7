import OneFileUnderTest
import PersistenceConformance
import Testing

@Suite("OneFile: fuzzing")
struct FuzzTests {
  @Test("random programs give the same results as the reference model", arguments: [1, 2, 3] as [UInt64])
  func fuzz(seed: UInt64) throws {
    let report = try Fuzzer(seed: seed, operations: 1_000).run(on: [.oneFile])
    for difference in report.differences {
      Issue.record("\(difference.testSource(context: ".oneFile", imports: ["OneFileUnderTest"]))")
    }
    #expect(report.operations >= 1_000)
  }
}
