import OneFileUnderTest
import PersistenceConformance
import Testing

@Suite("The contract, on a store in one file")
struct ContractTests {
  @Test("every rule holds, or is excused by a declared capability", arguments: ConformanceCheck.all)
  func contract(check: ConformanceCheck) async throws {
    if let excuse = try check.excuse(for: .oneFile) {
      print("excused: \(check), by \(excuse.capability)")
      return
    }
    try await check.run(on: .oneFile)
  }
}
