import OurContexts
import PersistenceConformance
import Testing

@Suite("The contract, on every context")
struct ContractTests {
  @Test(
    "every rule holds, or is excused by a declared capability", arguments: ContextUnderTest.ours,
    ConformanceCheck.all)
  func contract(context: ContextUnderTest, check: ConformanceCheck) async throws {
    try await run(check, on: context)
  }

  @Test(
    "wrappers are contexts too: the same rules hold through each that ships",
    arguments: ContextUnderTest.wrapped, ConformanceCheck.all)
  func wrappers(context: ContextUnderTest, check: ConformanceCheck) async throws {
    try await run(check, on: context)
  }

  private func run(_ check: ConformanceCheck, on context: ContextUnderTest) async throws {
    if let excuse = try check.excuse(for: context) {
      print("excused: \(context) by \(excuse.capability) from \(check)")
      return
    }
    try await check.run(on: context)
  }
}
