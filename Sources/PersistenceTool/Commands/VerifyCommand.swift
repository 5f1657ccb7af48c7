import ArgumentParser
import PersistenceDriver
import PersistenceMigration

/// Compares two stores.
struct VerifyCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Compare two stores: schemas, counts, digests, and record by record.",
    discussion: """
      Lines begin with = where both hold the same, - for what only A holds, + for what only B holds, and * for \
      what both hold with other values. The exit code is 1 where anything differs.
      """)

  @Argument(help: "The URL of one store.")
  var a: String

  @Argument(help: "The URL of the other.")
  var b: String

  @Option(help: "How many differing records of a model are printed.")
  var limit = 100

  @Option(help: "How progress is shown: auto, plain or none.")
  var progress: ProgressDisplay.Style = .auto

  @Option(help: "How the result is printed: table or json.")
  var format: ResultFormat = .table

  @OptionGroup var common: CommonOptions

  func validate() throws {
    if limit < 0 { throw ValidationError("--limit cannot be negative") }
  }

  func run(in session: ToolSession) throws -> ToolFailure.Exit {
    let stores = ToolStores(session, isVerbose: common.verbose)
    try stores.check(a)
    try stores.check(b)
    let report = try stores.with(stores.openForReading(a)) { left in
      try stores.with(stores.openForReading(b)) { right in
        let display = ProgressDisplay(session, style: progress)
        defer { try? display.finish() }  // A bar that cannot be cleared is no reason to lose the result.
        return try StoreComparison(left, right, differenceLimit: limit).run { try display.update($0) }
      }
    }
    switch format {
    case .table: for model in report.models { try print(model, session.output) }
    case .json: try session.output.line(EncodedText.json(report))
    }
    if format == .table {
      try session.output.line(report.isEqual ? "the stores hold the same" : "the stores differ")
    }
    return report.isEqual ? .success : .differences
  }

  private func print(_ model: ComparisonReport.Model, _ output: ByteOutput) throws {
    let name = TerminalText.safe(model.name)
    switch model.presence {
    case .onlyLeft: return try output.line("- \(name): \(model.onlyLeft) records, only in A")
    case .onlyRight: return try output.line("+ \(name): \(model.onlyRight) records, only in B")
    case .both: break
    }
    guard !model.isEqual else {
      let digest = model.left.map { String($0.digest.description.prefix(16)) } ?? ""
      return try output.line("= \(name): \(model.unchanged) records, digest \(digest)")
    }
    try output.line(
      "* \(name): \(model.unchanged) the same, \(model.onlyLeft) only in A, \(model.onlyRight) only in B, "
        + "\(model.changed) changed")
    for line in model.schemaDifferences { try output.line("  schema: \(TerminalText.safe(line))") }
    if !model.isComparedByKey {
      try output.line(
        "  the primary keys differ, so records were counted and digested, not compared one by one")
      if let left = model.left, let right = model.right {
        try output.line("  A: \(left.count) records, digest \(left.digest)")
        try output.line("  B: \(right.count) records, digest \(right.digest)")
      }
    }
    for difference in model.differences {
      try output.line("  \(difference.kind.rawValue) \(TerminalText.safe("\(difference.key)"))")
      for field in difference.fields {
        try output.line(
          "      \(TerminalText.safe(field.name)): \(TerminalText.safe(field.left)) in A, "
            + "\(TerminalText.safe(field.right)) in B")
      }
    }
    let hidden = model.differenceCount - model.differences.count
    if hidden > 0 { try output.line("  … and \(hidden) more") }
  }
}
