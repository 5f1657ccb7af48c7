import OrderedFileUnderTest
import PersistenceConformance
import Testing

@Suite("OrderedFile: storage contract")
struct ContractTests {
  @Test("each check passes, or a declared capability excuses it", arguments: ConformanceCheck.all)
  func contract(check: ConformanceCheck) async throws {
    if let excuse = try check.excuse(for: .orderedFile) {
      print("excused: \(check), by \(excuse.capability)")
      return
    }
    try await check.run(on: .orderedFile)
  }

  @Test("random programs give the same results as the reference model", arguments: [1, 2] as [UInt64])
  func fuzz(seed: UInt64) throws {
    let report = try Fuzzer(seed: seed, operations: 1_000).run(on: [.orderedFile])
    for difference in report.differences {
      Issue.record(
        "\(difference.testSource(context: ".orderedFile", imports: ["OrderedFileUnderTest"]))")
    }
    #expect(report.operations >= 1_000)
  }
}
