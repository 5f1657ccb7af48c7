import OurContexts
import PersistenceConformance
import Testing

@Suite("The contract, on every context")
struct ContractTests {
  @Test(
    "every rule holds, or is excused by a declared capability", arguments: ContextUnderTest.ours,
    ConformanceCheck.all)
  func contract(context: ContextUnderTest, check: ConformanceCheck) async throws {
    if let excuse = try check.excuse(for: context) {
      print("excused: \(context) by \(excuse.capability) from \(check)")
      return
    }
    try await check.run(on: context)
  }
}
