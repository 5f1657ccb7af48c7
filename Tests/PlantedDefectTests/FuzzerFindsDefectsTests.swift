import Foundation
import PersistenceConformance
import PersistenceDriverSupport
import PlantedDefects
import Testing

extension PlantedDefectTests {
  @Suite("Fuzzer: planted defects")
  struct FuzzerFindsDefects {
    /// Seeds whose programs reveal defects in their first 500 operations that other seeds reveal later.
    ///
    /// They save time, not operations: if a change of the fuzzer makes one useless, the test runs as long as without it.
    private static let tellingSeeds: [String: UInt64] = [
      "a kept plan compares by the operator of an earlier request": 1, "NaN is not equal to itself": 1,
      "a rollback does not restore deleted records": 1, "decimals sort as text": 24,
      "case is folded in ASCII only": 51, "text sorts by UTF-16": 4, "an empty list is nil": 4,
      "contains takes % as a wildcard": 6, "text is compared case-insensitively": 6, "empty text is nil": 7,
      "hasPrefix takes _ as a wildcard": 8, "a search compares characters, not scalars": 8,
      "a rollback leaves its entries in the indexes": 9, "nil fields are not equal to each other": 10,
      "text is compared by canonical equivalence": 30,
      "a path of a document leads to the member of its last name": 16,
      "a missing part of a document is not nil": 17, "a number in a document is compared as text": 54,
    ]

    @Test("the fuzzer finds every semantic defect within 20,000 operations")
    func everyDefect() async throws {
      let defects = PlantedDefect.all.filter(\.isSemantic)
      #expect(defects.count >= 45)
      #expect(Set(Self.tellingSeeds.keys).isSubset(of: defects.map(\.name)))
      let isSoak = ProcessInfo.processInfo.environment["PERSISTENCE_SOAK"] != nil
      // On threads of their own, since the few of the cooperative pool are busy with other tests.
      let reports = await Parallel.map(defects) { defect in
        await BlockingThread.run {
          Result {
            if !isSoak, let seed = Self.tellingSeeds[defect.name] {
              let report = try Self.fuzz(defect, seed: seed, operations: 500)
              guard report.differences.isEmpty else { return report }
            }
            return try Self.fuzz(defect, seed: 2, operations: 20_000)
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
        try !Self.fuzz(defect, seed: seed, operations: 4_000).differences.isEmpty
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

    private static func fuzz(_ defect: PlantedDefect, seed: UInt64, operations: Int) throws -> FuzzReport {
      var fuzzer = Fuzzer(seed: seed, operations: operations)
      // The smallest program is not needed.
      fuzzer.shrinkingTime = .zero
      let report = try fuzzer.run(on: [defect.context])
      print("\(defect) with seed \(seed) — \(Self.text(of: report))".replacing("\n", with: " "))
      return report
    }

    private static func text(of report: FuzzReport) -> String {
      guard let difference = report.differences.first else { return "NOT FOUND" }
      return "after \(report.operations) operations: expected \(difference.expected.prefix(70)), "
        + "found \(difference.found.prefix(70))"
    }
  }
}
