import OneFileUnderTest
import PersistenceConformance
import XCTest

/// Runs all checks as one XCTest test.
final class ContractXCTests: XCTestCase {
  func testContract() async {
    let suite = ConformanceSuite()
    let report = await suite.run(on: .oneFile)
    for entry in report.entries {
      if case .broken(let failure) = entry.outcome { XCTFail("\(entry.title)\n\(failure)") }
    }
    XCTAssertTrue(report.isConforming)
  }
}
