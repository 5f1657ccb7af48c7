import PersistenceDriver
import PersistenceMigration

/// Prints the report of a migration.
struct MigrationPrinter {
  let output: ByteOutput

  func print(_ report: MigrationReport, seconds: Double, rejects: String?) throws {
    let hasReplaced = report.counts.replaced > 0
    var columns: [TextTable.Column] = [
      .init(title: "model"), .init(title: "read", isRight: true), .init(title: "written", isRight: true),
    ]
    if hasReplaced { columns.append(.init(title: "replaced", isRight: true)) }
    columns += ["skipped", "rejected", "time", "rate"].map { TextTable.Column(title: $0, isRight: true) }
    columns.append(.init(title: "digest"))
    var table = TextTable(columns, output: output)
    for model in report.models {
      let name =
        StoredName(model.name) == StoredName(model.destinationName)
        ? model.name : "\(model.name) → \(model.destinationName)"
      let counts = model.counts
      var cells = [name, "\(counts.read)", "\(counts.written)"]
      if hasReplaced { cells.append("\(counts.replaced)") }
      cells += [
        "\(counts.skipped)", "\(counts.rejected)", ProgressDisplay.duration(model.seconds),
        model.rate > 0 ? "\(Int(model.rate))/s" : "",
        model.digest.map { String($0.description.prefix(16)) } ?? "",
      ]
      try table.add(cells)
    }
    try table.finish()
    for loss in report.losses { try output.line("changed: \(TerminalText.safe("\(loss)"))") }
    try UnmappedObjectPrinter(output: output).print(report.unmappedObjects)
    for model in report.comparison?.models ?? [] where model.differenceCount > 0 {
      try ComparisonPrinter(output: output).print(model)
    }
    try output.line(summary(report, seconds))
    if report.counts.rejected > 0 {
      let hint = rejects.map { "see \($0)" } ?? "to list them, use --rejects FILE"
      try output.line("\(report.counts.rejected) rejected: \(TerminalText.safe(hint))")
    }
  }

  private func summary(_ report: MigrationReport, _ seconds: Double) -> String {
    let verification =
      switch report.verification {
      case .none: "not verified"
      case .count: "verified by count"
      case .digest: "verified by digest"
      case .full: "verified record by record"
      }
    let models = report.models.count
    let copied = report.counts.written + report.counts.replaced
    let resumed = report.isResumed ? "; resumed an earlier run" : ""
    return
      "\(copied) record\(copied == 1 ? "" : "s") of \(models) model\(models == 1 ? "" : "s") copied, \(verification), in "
      + ProgressDisplay.duration(seconds) + resumed
  }
}
