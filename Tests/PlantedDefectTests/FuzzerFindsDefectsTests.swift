import PersistenceConformance
import PlantedDefects
import Testing

extension PlantedDefectTests {
  @Suite("Fuzzer: planted defects")
  struct FuzzerFindsDefects {
    @Test("the fuzzer finds every semantic defect within 20,000 operations")
    func everyDefect() async throws {
      let defects = PlantedDefect.all.filter(\.isSemantic)
      #expect(defects.count >= 45)
      let reports = await Parallel.map(defects) { defect in
        Result {
          var fuzzer = Fuzzer(seed: 2, operations: 20_000)
          // This test does not need the smallest program.
          fuzzer.shrinkingTime = .zero
          let report = try fuzzer.run(on: [defect.context])
          print("\(defect) — \(Self.text(of: report))".replacing("\n", with: " "))
          return report
        }
      }
      #expect(reports.count == defects.count)
      for (defect, report) in zip(defects, reports) where try report.get().differences.isEmpty {
        Issue.record("the fuzzer does not find: \(defect)")
      }
    }

    private static func text(of report: FuzzReport) -> String {
      guard let difference = report.differences.first else { return "NOT FOUND" }
      return "after \(report.operations) operations: expected \(difference.expected.prefix(70)), "
        + "found \(difference.found.prefix(70))"
    }
  }
}
