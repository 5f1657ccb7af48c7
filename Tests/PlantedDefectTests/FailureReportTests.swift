import PersistenceConformance
import PersistenceCore
import PlantedDefects
import Testing

extension PlantedDefectTests {
  /// The reports of the suite, which an author of a context reads.
  @Suite("Failure reports")
  struct FailureReports {
    private func entries(
      of name: String, _ checks: [ConformanceCheck] = ConformanceCheck.quick
    ) async throws -> [(check: ConformanceCheck, outcome: ConformanceReport.Outcome)] {
      let defect = try #require(PlantedDefect.all.first { $0.name == name })
      let report = await ConformanceSuite(checks: checks, timeLimit: .seconds(20)).run(on: defect.context)
      return Array(zip(checks, report.entries.map(\.outcome)))
    }

    private static let shortRows = ["rows lack their last cell", "rows lack their last two cells"]

    @Test(
      "the first line says what the context did, and quotes the rule; the rest names case, line and source",
      arguments: ["every write fails", "delete always returns true"] + shortRows)
    func reports(name: String) async throws {
      var (rules, failures): (Set<ContractRule>, [ConformanceFailure]) = ([], [])
      for (check, outcome) in try await entries(of: name) {
        guard case .broken(let failure) = outcome else { continue }
        rules.insert(check.rules[0])
        failures.append(failure)
        Self.requireReadable(failure, of: check)
      }
      // A context that cannot write breaks most rules at once.
      if name == "every write fails" { #expect(rules.count > 30, "\(rules)") }
      #expect(!rules.isEmpty)
      // Rows with too few cells fail checks with a message, and do not end the process.
      guard Self.shortRows.contains(name) else { return }
      #expect(failures.count > 100)
      #expect(failures.contains { $0.found.contains("lacks field number") }, "typed records")
      #expect(failures.contains { $0.expected.contains("cells, one for each field") }, "raw rows")
    }

    /// Checks the report of one failure.
    static func requireReadable(_ failure: ConformanceFailure, of check: ConformanceCheck) {
      let rule = check.rules[0]
      let text = "\(failure)"
      let first = String(text.prefix { $0 != "\n" })
      let quotation = " (\(rule): “\(rule.sentence)”)"
      #expect(failure.rule == "\(rule) \(rule.title)")
      #expect(first.hasSuffix(quotation), "\(text)")
      let subject = failure.subject.replacing("\n", with: " ")
      #expect(first.hasPrefix(subject + ": "), "\(text)")
      let deed = first.dropLast(quotation.count).dropFirst(subject.count + 2)
      // A title tells no case; then what the context did names the expression, the error or the value.
      let verbs = ["is false", " threw `", " is ", "returned ", "became ", "found ", "has not ended"]
      #expect(verbs.contains { deed.contains($0) }, "\(text)")
      if failure.subject == check.title {
        let isNamed = ["`", "found ", "became ", "has not ended"].contains { deed.contains($0) }
        #expect(isNamed, "\(text)")
      }
      // A helper of a check may report the line that calls it.
      if text.contains(/\n  source:   .*(expect|require)\w*\(/) {
        for words in ["the condition of line", "the value in line", "the call in line"] {
          #expect(!deed.contains(words), "the source of a check can be read here: \(text)")
        }
      }
      #expect(failure.file.hasSuffix(".swift") && failure.line > 0, "\(text)")
      #expect(text.contains("\n  source:   "), "\(text)")
      #expect(text.hasSuffix("at \(failure.file):\(failure.line)"), "\(text)")
    }

    @Test("the inner loop is most of the checks, and a suite can be that of some rules")
    func quick() {
      #expect(ConformanceCheck.quick.count > 200)
      #expect(ConformanceCheck.quick.count < ConformanceCheck.all.count)
      let some = ConformanceSuite(only: [.w4], isQuick: true).checks
      #expect(!some.isEmpty && some.allSatisfy { $0.rules.contains(.w4) && $0.isQuick })
    }

    @Test("the likeliest failures come first: pages, writes, values, transactions, unique values, reopening")
    func order() {
      var topics: [String] = []
      for check in ConformanceCheck.quick where topics.last != check.topic { topics.append(check.topic) }
      let first = [
        "PageReadingChecks", "WriteChecks", "RoundTripChecks", "TransactionChecks", "UniqueChecks",
        "ReopenChecks", "ConditionChecks", "OrderChecks",
      ]
      #expect(Array(topics.prefix(first.count)) == first)
      #expect(Set(topics).count == topics.count, "the checks of a topic are together")
      let places = ConformanceSuite(only: [], isQuick: true).checks.map(\.id)
      #expect(places == ConformanceCheck.all.filter(\.isQuick).map(\.id), "the order is that of all checks")
    }

    @Test(
      "the inner loop meets common mistakes within its first forty checks",
      arguments: [
        "every write fails", "rows lack their last cell", "insert overwrites",
        "a transaction whose closure throws is committed",
      ])
    func firstFailure(name: String) async throws {
      let outcomes = try await entries(of: name, Array(ConformanceCheck.quick.prefix(40)))
      #expect(outcomes.contains { $0.outcome.isBroken })
    }
  }
}
