/// The contract's rules with the checks of each: what `Documentation/Conformance.md` says.
public struct RuleTable: Sendable, Encodable {
  /// One rule.
  public struct Row: Sendable, Encodable {
    /// The rule.
    public let rule: ContractRule
    /// What it is about.
    public let title: String
    /// The titles of its checks.
    public let checks: [String]
  }

  /// One row for each rule of the contract, those without a check included.
  public let rows: [Row]

  /// Arranges checks by rule.
  public init(_ checks: [ConformanceCheck] = ConformanceCheck.all) {
    rows = ContractRule.allCases.map { rule in
      Row(rule: rule, title: rule.title, checks: checks.filter { $0.rules.contains(rule) }.map(\.title))
    }
  }

  /// The table as Markdown.
  public var markdown: String {
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
