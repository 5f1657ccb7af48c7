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
    "each shipped wrapper passes the same checks; the slow ones in make soak",
    arguments: ContextUnderTest.wrapped,
    Environment.isSoak ? ConformanceCheck.all : ConformanceCheck.quick)
  func wrappers(context: ContextUnderTest, check: ConformanceCheck) async throws {
    try await check.runAndPrint(on: context)
  }
}
