/// The contract's rules and the checks of each: the content of `Documentation/Conformance.md`.
package struct RuleTable: Sendable, Encodable {
  /// One rule.
  package struct Row: Sendable, Encodable {
    /// The rule.
    package let rule: ContractRule
    /// The subject of the rule.
    package let title: String
    /// The titles of its checks.
    package let checks: [String]
  }

  /// One row for each rule of the contract, including rules without a check.
  package let rows: [Row]

  /// Groups checks by rule.
  package init(_ checks: [ConformanceCheck] = ConformanceCheck.all) {
    rows = ContractRule.allCases.map { rule in
      Row(rule: rule, title: rule.title, checks: checks.filter { $0.rules.contains(rule) }.map(\.title))
    }
  }

  /// The table as Markdown.
  package var markdown: String {
    var text = """
      # The contract's rules and their checks

      Made by `make docs` from the checks themselves; a test compares. The rules' full text is in
      [Contract.md](Contract.md). A context is excused from a check only by a capability that it declares.

      | Rule | Check |
      |---|---|

      """
    for row in rows {
      let checks = row.checks.isEmpty ? ["none"] : row.checks
      for (number, check) in checks.enumerated() {
        let name = number == 0 ? "**\(row.rule.rawValue)** \(row.title)" : ""
        text += "| \(name) | \(check.replacing("|", with: "\\|")) |\n"
      }
    }
    return String(text.dropLast())
  }
}
