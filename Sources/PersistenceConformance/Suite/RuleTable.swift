/// The contract's rules and the checks of each: the content of `Documentation/Conformance.md`.
package struct RuleTable: Sendable, Encodable {
  package struct Row: Sendable, Encodable {
    package let rule: ContractRule
    package let title: String
    package let checks: [String]
  }

  package let rows: [Row]

  package init(_ checks: [ConformanceCheck] = ConformanceCheck.all) {
    rows = ContractRule.allCases.map { rule in
      Row(rule: rule, title: rule.title, checks: checks.filter { $0.rules.contains(rule) }.map(\.title))
    }
  }

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
