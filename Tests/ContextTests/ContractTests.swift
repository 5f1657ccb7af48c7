import OurContexts
import PersistenceConformance
import Testing

@Suite("Contract on every context")
struct ContractTests {
  @Test(
    "each check passes, or a declared capability excuses it", arguments: ContextUnderTest.ours,
    ConformanceCheck.all)
  func contract(context: ContextUnderTest, check: ConformanceCheck) async throws {
    try await run(check, on: context)
  }

  @Test(
    "each shipped wrapper passes the same checks",
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
