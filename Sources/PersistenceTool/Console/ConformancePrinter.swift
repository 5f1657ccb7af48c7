import PersistenceConformance

/// Prints a conformance report: a table of the rules, then the failures.
struct ConformancePrinter {
  let output: ByteOutput

  func print(_ report: ConformanceReport) throws {
    var table = TextTable(
      [
        .init(title: "rule"), .init(title: ""), .init(title: "held", isRight: true),
        .init(title: "broken", isRight: true), .init(title: "excused", isRight: true), .init(title: "by"),
      ], output: output)
    for rule in ContractRule.allCases {
      let outcomes = report.entries(of: rule).map(\.outcome)
      guard !outcomes.isEmpty else { continue }
      func count(_ matches: (ConformanceReport.Outcome) -> Bool) -> String {
        let count = outcomes.count(where: matches)
        return count == 0 ? "" : "\(count)"
      }
      let excuses = Set(outcomes.compactMap(\.excuse)).sorted()
      try table.add([
        rule.rawValue, rule.title, count(\.isHeld), count(\.isBroken), count(\.isExcused),
        excuses.joined(separator: ", "),
      ])
    }
    try table.finish()
    for entry in report.entries {
      guard case .broken(let failure) = entry.outcome else { continue }
      try output.line()
      try output.line("broken: \(entry.rules.map(\.rawValue).joined(separator: " ")) \(entry.title)")
      for line in "\(failure)".split(separator: "\n") {
        try output.line("  " + TerminalText.safe(String(line)))
      }
    }
    let counted = report.entries.filter { !$0.counts.isEmpty }
    if !counted.isEmpty { try output.line() }
    for entry in counted {
      let counts = entry.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
      try output.line("counted: \(counts.joined(separator: ", ")) in: \(entry.title)")
    }
    try output.line()
    let (held, broken) = (report.count(where: \.isHeld), report.count(where: \.isBroken))
    let seconds = report.entries.reduce(0) { $0 + $1.seconds }
    try output.line(
      "\(report.context): \(held) held, \(broken) broken, \(report.count(where: \.isExcused)) excused, in "
        + ProgressDisplay.duration(seconds))
  }
}
