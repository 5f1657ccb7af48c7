import Foundation
import OurContexts
import PersistenceConformance
import Testing

@Suite("Contract documents")
struct DocumentationTests {
  private static let documents = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private func text(_ name: String) throws -> String {
    try String(contentsOf: Self.documents.appendingPathComponent(name), encoding: .utf8)
  }

  @Test("every rule has a check, and titles are unique", arguments: RuleTable().rows.map(\.rule))
  func everyRule(rule: ContractRule) {
    #expect(RuleTable().rows.contains { $0.rule == rule && !$0.checks.isEmpty }, "\(rule) has no check")
    #expect(Set(ConformanceCheck.all.map(\.id)).count == ConformanceCheck.all.count)
  }

  @Test("Conformance.md is the output of `make docs`")
  func table() throws {
    #expect(try text("Documentation/Conformance.md") == RuleTable().markdown + "\n", "run make docs")
  }

  @Test("the contract's text and the checks have the same rules")
  func contract() throws {
    let contract = try text("Documentation/Contract.md")
    let numbers = contract.matches(of: /\*\*([VOWRECUSL][0-9]+a?)/).map { String($0.1) }
    // L9 is a rule of layers, which have tests of their own.
    #expect(Set(numbers).subtracting(["L9"]) == Set(ContractRule.allCases.map(\.rawValue)))
  }

  @Test("failures quote the contract word for word", arguments: ContractRule.allCases)
  func quotations(rule: ContractRule) throws {
    let contract = try text("Documentation/Contract.md")
    let own =
      contract.components(separatedBy: "**\(rule.rawValue)** ").last?
      .split(separator: "\n").first.map(String.init) ?? ""
    #expect(own.contains(rule.sentence), "\(rule)")
  }

  @Test("the README lists the capabilities that excuse our contexts", arguments: ContextUnderTest.ours)
  func excuses(context: ContextUnderTest) throws {
    let capabilities = try context.capabilities()
    let excuses = Set(
      ConformanceCheck.all.flatMap { check in
        check.requirements.filter { !$0.isMet(by: capabilities) }.prefix(1).map(\.capability)
      })
    let line = try text("README.md").split(separator: "\n").first {
      $0.hasPrefix("| capabilities that excuse it from rules |")
    }
    let cells = try #require(line).split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    try #require(cells.count == 6)
    let columns = ["sqlite": 1, "lmdb": 2, "postgres": 3, "json": 4, "memory": 5]
    let cell = cells[try #require(columns[context.name])]
    let written =
      cell == "nothing" ? [] : cell.replacing("`", with: "").split(separator: ", ").map(String.init)
    #expect(Set(written) == excuses)
  }
}
