import OurContexts
import PersistenceConformance
import Testing

@Suite("Contract on every context")
struct ContractTests {
  @Test(
    "each check passes, or a declared capability excuses it", arguments: ContextUnderTest.ours,
    ConformanceCheck.all)
  func contract(context: ContextUnderTest, check: ConformanceCheck) async throws {
    try await check.runAndPrint(on: context)
  }

  @Test(
    "each shipped wrapper passes the same checks",
    arguments: ContextUnderTest.wrapped, ConformanceCheck.all)
  func wrappers(context: ContextUnderTest, check: ConformanceCheck) async throws {
    try await check.runAndPrint(on: context)
  }
}
