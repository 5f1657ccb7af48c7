import ArgumentParser
import PersistenceDriver
import PersistenceMigration

/// Compares two stores.
struct VerifyCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Compare two stores: schemas, counts, digests, and record by record.",
    discussion: """
      Lines begin with = where both hold the same, - for what only A holds, + for what only B holds, and * for \
      what both hold with other values. The exit code is 1 where anything differs; with --one-way, where B lacks \
      anything that A holds.
      """)

  @Argument(help: "The URL of one store.")
  var a: String

  @Argument(help: "The URL of the other.")
  var b: String

  @Flag(help: "Only what A holds must be in B, as it is; B may hold more.")
  var oneWay = false

  @Option(help: "How many differing records of a model are printed.")
  var limit = 100

  @Option(help: "How progress is shown: auto, plain, json or none.")
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
    let report = try stores.with(stores.openForReading(a, surveying: true)) { left in
      try stores.with(stores.openForReading(b, surveying: true)) { right in
        let display = ProgressDisplay(session, style: progress)
        defer { try? display.finish() }  // A bar that cannot be cleared is no reason to lose the result.
        return try StoreComparison(left, right, differenceLimit: limit).run { try display.update($0) }
      }
    }
    let isGood = oneWay ? report.isContained : report.isEqual
    switch format {
    case .table: for model in report.models { try ComparisonPrinter(session.output).print(model) }
    case .json: try session.output.line(EncodedText.json(report))
    }
    if format == .table {
      let good = report.isEqual ? "the stores hold the same" : "B holds all that A does, and more"
      try session.output.line(isGood ? good : oneWay ? "B lacks what A holds" : "the stores differ")
    }
    return isGood ? .success : .differences
  }
}
