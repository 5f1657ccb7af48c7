import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing

@Suite("Contract: stores with checksums")
struct ChecksumTests {
  private static let rules: Set<ContractRule> = [.w5, .e5, .e7, .e8, .c3]

  @Test(
    "W5, E5, E7, E8, C3: contexts with checksums pass the checks of kills, losses of power, faults and damage",
    arguments: ContextUnderTest.checked,
    ConformanceCheck.all.filter {
      !rules.isDisjoint(with: $0.rules) || $0.requirements.contains(.detectingDamage)
    })
  func checked(context: ContextUnderTest, check: ConformanceCheck) async throws {
    try await check.runAndPrint(on: context)
  }

  @Test(
    "W5, E5, E7, E8, C3: durable contexts in wrappers pass them too; all of them in make soak",
    arguments: ContextUnderTest.wrappedDurable.prefix(Environment.isSoak ? .max : 1),
    ConformanceCheck.all.filter { !rules.isDisjoint(with: $0.rules) })
  func wrapped(context: ContextUnderTest, check: ConformanceCheck) async throws {
    try await check.runAndPrint(on: context)
  }

  @Test(
    "E5: SQLite with checksums declares that it detects damage, so that nothing excuses it from those checks",
    arguments: ContextUnderTest.checked.filter { $0.name.hasPrefix("sqlite") })
  func declared(context: ContextUnderTest) throws {
    #expect(try context.capabilities().detectsDamage)
  }
}
