import OneFileUnderTest
import PersistenceConformance
import Testing

@Suite("OneFile: storage contract")
struct ContractTests {
  @Test("each check passes, or a declared capability excuses it", arguments: ConformanceCheck.all)
  func contract(check: ConformanceCheck) async throws {
    if let excuse = try check.excuse(for: .oneFile) {
      print("excused: \(check), by \(excuse.capability)")
      return
    }
    try await check.run(on: .oneFile)
  }
}
