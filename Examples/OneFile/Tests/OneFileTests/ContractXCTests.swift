import OneFileUnderTest
import PersistenceConformance
import XCTest

/// The same from XCTest: all checks in one test.
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
