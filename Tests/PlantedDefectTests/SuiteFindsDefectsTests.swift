import PersistenceConformance
import PlantedDefects
import Testing

extension PlantedDefectTests {
  @Suite("The suite can fail")
  struct SuiteFindsDefects {
    @Test("the suite catches every planted defect, and says by which check")
    func everyDefect() async throws {
      let defects = PlantedDefect.all
      #expect(defects.count >= 45)
      #expect(Set(defects.map(\.name)).count == defects.count, "their names are unique")
      let catches = await Parallel.map(defects) { defect in
        let found = await Self.firstCatch(of: defect)
        // As it comes: a whole table at once is more than the pipe of `swift test` takes.
        print("\(defect) — \(found ?? "NOT CAUGHT")")
        return found
      }
      #expect(catches.count == defects.count)
      for (defect, found) in zip(defects, catches) where found == nil {
        Issue.record("the suite does not catch: \(defect)")
      }
    }

    @Test("without a defect, what the defects are made of passes", arguments: PlantedDefect.Control.all)
    func control(control: PlantedDefect.Control) async throws {
      let checks = ConformanceCheck.all.filter { control.rules.contains($0.rules[0]) }
      let report = await ConformanceSuite(checks: checks, timeLimit: .seconds(60)).run(on: control.context)
      for entry in report.entries {
        guard case .broken(let failure) = entry.outcome else { continue }
        Issue.record("\(entry.title): \(failure)")
      }
      #expect(report.isConforming)
    }

    /// Runs checks until one fails: first those of the rule that the defect is about, then the others.
    private static func firstCatch(of defect: PlantedDefect) async -> String? {
      func rank(_ check: ConformanceCheck) -> Int {
        if check.rules.first == defect.rules.first { return 0 }
        return check.rules.contains { defect.rules.contains($0) } ? 1 : 2
      }
      let checks = ConformanceCheck.all.enumerated()
        .sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element)
      for check in checks {
        let report = await ConformanceSuite(checks: [check], timeLimit: .seconds(30)).run(on: defect.context)
        guard case .broken(let failure) = report.entries.first?.outcome else { continue }
        let subject = failure.subject.isEmpty ? "" : "\(failure.subject.prefix(60)): "
        let difference = "expected \(failure.expected.prefix(70)), found \(failure.found.prefix(70))"
        return "caught by \(check): \(subject)\(difference)".replacing("\n", with: " ")
      }
      return nil
    }
  }
}
