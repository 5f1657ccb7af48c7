import OneFileUnderTest
import PersistenceConformance
import XCTest

/// The same from XCTest; of the whole contract here only the errors, since each check costs its time.
final class ContractXCTests: XCTestCase {
  func testErrors() async {
    let suite = ConformanceSuite(checks: ConformanceCheck.all.filter { $0.rules.contains(.e5) })
    let report = await suite.run(on: .oneFile)
    for entry in report.entries {
      if case .broken(let failure) = entry.outcome { XCTFail("\(entry.title)\n\(failure)") }
    }
    XCTAssertTrue(report.isConforming)
  }
}
