#if CommandLineTool
  import ArgumentParser
  import PersistenceDriver
  import PersistenceMigration

  /// Compares two stores.
  struct VerifyCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "verify", abstract: "Compare two stores: schemas, counts, digests and records.",
      discussion: """
        Each line starts with = (equal), - (only in A), + (only in B) or * (different values). The exit code is 1 if the \
        stores differ; with --one-way, if B lacks anything that A holds.
        """)

    @Argument(help: "The URL of store A.")
    var a: String

    @Argument(help: "The URL of store B.")
    var b: String

    @Flag(help: "Check only that B holds everything that A holds.")
    var oneWay = false

    @Option(help: "The maximum number of printed differences per model.")
    var limit = 100

    @Option(help: "How to show progress: auto, plain, json or none.")
    var progress: ProgressDisplay.Style = .auto

    @Option(help: "How to print the result: table or json.")
    var format: ResultFormat = .table

    @OptionGroup var common: CommonOptions

    func validate() throws {
      if limit < 0 { throw ValidationError("--limit must be at least 0") }
    }

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let stores = ToolStores(session, isVerbose: common.verbose)
      try stores.check(a)
      try stores.check(b)
      let report = try stores.with(stores.openForReading(a, surveying: true)) { left in
        try stores.with(stores.openForReading(b, surveying: true)) { right in
          let display = ProgressDisplay(session, style: progress)
          defer { try? display.finish() }  // A display failure must not lose the result.
          return try StoreComparison(left, right, differenceLimit: limit).run { try display.update($0) }
        }
      }
      let isSuccess = oneWay ? report.isContained : report.isEqual
      try session.print(report, as: format) { output in
        for model in report.models { try ComparisonPrinter(output: output).print(model) }
        let match = report.isEqual ? "the stores are equal" : "B holds everything that A holds, and more"
        try output.line(isSuccess ? match : oneWay ? "B lacks records that A holds" : "the stores differ")
      }
      return isSuccess ? .success : .differences
    }
  }
#endif
