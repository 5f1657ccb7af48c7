import PersistenceConformance
import PersistenceDriverSupport
import PlantedDefects
import Testing

extension PlantedDefectTests {
  @Suite("Fuzzer: planted defects")
  struct FuzzerFindsDefects {
    @Test("the fuzzer finds every semantic defect within 20,000 operations")
    func everyDefect() async throws {
      let defects = PlantedDefect.all.filter(\.isSemantic)
      #expect(defects.count >= 45)
      // On threads of their own, since the few of the cooperative pool are busy with other tests.
      let reports = await Parallel.map(defects) { defect in
        await BlockingThread.run {
          Result {
            var fuzzer = Fuzzer(seed: 2, operations: 20_000)
            // This test does not need the smallest program.
            fuzzer.shrinkingTime = .zero
            let report = try fuzzer.run(on: [defect.context])
            print("\(defect) — \(Self.text(of: report))".replacing("\n", with: " "))
            return report
          }
        }
      }
      #expect(reports.count == defects.count)
      for (defect, report) in zip(defects, reports) where try report.get().differences.isEmpty {
        Issue.record("the fuzzer does not find: \(defect)")
      }
    }

    @Test(
      "the fuzzer finds what two contexts, reopening, other orders and long requests reveal, in few operations",
      arguments: [
        "delete by request deletes while it walks a fetch",
        "unique values are forgotten when the store is opened again",
        "an open context does not learn the unique values of others",
        "a definition in another order starts the model anew",
      ])
    func defaultPrograms(name: String) throws {
      let defect = try #require(PlantedDefect.all.first { $0.name == name })
      let isFound = try ([1, 2, 3] as [UInt64]).contains { seed in
        var fuzzer = Fuzzer(seed: seed, operations: 4_000)
        fuzzer.shrinkingTime = .zero
        let report = try fuzzer.run(on: [defect.context])
        print("\(defect) with seed \(seed) — \(Self.text(of: report))".replacing("\n", with: " "))
        return !report.differences.isEmpty
      }
      #expect(isFound, "no seed reveals: \(defect)")
    }

    @Test("the fuzzer's programs of relations find references that do not become nil")
    func relations() throws {
      let defect = try #require(
        PlantedDefect.all.first { $0.name == "an update by a list of keys is not made" })
      var fuzzer = Fuzzer(seed: 1, operations: 12_000)
      fuzzer.differenceLimit = .max
      fuzzer.shrinkingTime = .zero
      let report = try fuzzer.run(on: [defect.context])
      let related = try #require(report.differences.first { !$0.program.relations.isEmpty })
      #expect(related.testSource().contains("let relations: [FuzzRelation] = ["))
      #expect(related.program.relations.contains { $0.rule.rawValue == "setNil" })
    }

    @Test("the fuzzer finds a plan that is kept across shapes, although one made anew is right")
    func keptPlans() throws {
      let name = "a kept plan compares by the operator of an earlier request"
      let defect = try #require(PlantedDefect.all.first { $0.name == name })
      var fuzzer = Fuzzer(seed: 1, operations: 12_000)
      fuzzer.shrinkingTime = .zero
      let report = try fuzzer.run(on: [defect.context])
      #expect(!report.differences.isEmpty)
      for difference in report.differences {
        #expect(!difference.found.contains("by a plan made anew"), "\(difference)")
      }
    }

    private static func text(of report: FuzzReport) -> String {
      guard let difference = report.differences.first else { return "NOT FOUND" }
      return "after \(report.operations) operations: expected \(difference.expected.prefix(70)), "
        + "found \(difference.found.prefix(70))"
    }
  }
}
