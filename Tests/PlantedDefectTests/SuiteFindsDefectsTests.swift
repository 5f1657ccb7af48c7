import Foundation
import PersistenceConformance
import PlantedDefects
import Testing

extension PlantedDefectTests {
  @Suite("Suite: planted defects")
  struct SuiteFindsDefects {
    @Test("the suite finds every planted defect, and names the check")
    func everyDefect() async throws {
      let defects = PlantedDefect.all
      #expect(defects.count >= 223)
      #expect(Set(defects.map(\.name)).count == defects.count, "their names are unique")
      let titles = Set(ConformanceCheck.all.map(\.title))
      for defect in defects {
        guard let check = defect.check else { continue }
        #expect(titles.contains(check), "\(defect) names a check that does not exist")
      }
      let catches = await Parallel.map(defects) { defect in
        let found = await Self.firstCatch(of: defect)
        // Line by line, because the pipe of `swift test` cannot take a whole table at once.
        print("\(defect) — \(found?.text ?? "NOT CAUGHT")")
        return found
      }
      #expect(catches.count == defects.count)
      for (defect, found) in zip(defects, catches) {
        guard let found else {
          Issue.record("the suite does not catch: \(defect)")
          continue
        }
        guard let check = defect.check else { continue }
        #expect(found.title == check, "another check than expected catches: \(defect)")
      }
    }

    @Test("the machinery without a defect passes", arguments: PlantedDefect.Control.all)
    func control(control: PlantedDefect.Control) async throws {
      // The slow checks run in make soak.
      let isSoak = ProcessInfo.processInfo.environment["PERSISTENCE_SOAK"] != nil
      let checks = ConformanceCheck.all.filter {
        control.rules.contains($0.rules[0]) && (isSoak || $0.isQuick)
      }
      #expect(!checks.isEmpty)
      // With the default time limit, because nothing hangs here, and other tests take time from these checks.
      let report = await ConformanceSuite(checks: checks).run(on: control.context)
      for entry in report.entries {
        guard case .broken(let failure) = entry.outcome else { continue }
        Issue.record("\(entry.title): \(failure)")
      }
      #expect(report.isConforming)
    }

    /// Runs checks until one fails: first the expected one, then those of the defect's main rule.
    private static func firstCatch(of defect: PlantedDefect) async -> (title: String, text: String)? {
      func rank(_ check: ConformanceCheck) -> Int {
        if check.title == defect.check { return -1 }
        if check.rules.first == defect.rules.first { return 0 }
        return check.rules.contains { defect.rules.contains($0) } ? 1 : 2
      }
      let checks = ConformanceCheck.all.enumerated()
        .sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element)
      // A check that cannot end, or a store that cannot be opened, says nothing of the defect.
      let timeLimit: Duration = defect.hangs ? .seconds(30) : .seconds(300)
      for check in checks {
        let report = await ConformanceSuite(checks: [check], timeLimit: timeLimit).run(on: defect.context)
        guard case .broken(let failure) = report.entries.first?.outcome else { continue }
        guard failure.isTimeout == defect.hangs, failure.rule.hasPrefix("\(check.rules[0]) ") else {
          Issue.record("\(defect): \(failure)")
          return nil
        }
        FailureReports.requireReadable(failure, of: check)
        let first = "\(failure)".prefix { $0 != "\n" }
        return (check.title, "caught by \(check): \(first)")
      }
      return nil
    }
  }
}
