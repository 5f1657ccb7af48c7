#if CommandLineTool
  import ArgumentParser
  import PersistenceDriver
  import PersistenceMigration

  /// Checks one store, or compares two.
  struct VerifyCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "verify",
      abstract: "Check a store, or compare two stores: schemas, counts, digests and records.",
      discussion: """
        With one URL, the command runs the engine's own check and reads every record. Each line is a finding: damaged \
        (also two records with the same unique value), missing, dangling (a reference), edited (by hand) or unrecorded. A \
        JSON directory that was opened with checksums=true tells an edit by hand from damage; --accept records the files as \
        they are. The exit code is 1 if anything is damaged, missing or dangling.

        With two URLs, each line starts with = (equal), - (only in A), + (only in B) or * (different values). The exit \
        code is 1 if the stores differ; with --one-way, if B lacks anything that A holds.
        """)

    @Argument(help: "The URL of the store to check, or of store A.")
    var a: String

    @Argument(help: "The URL of store B, to compare it with A.")
    var b: String?

    @Flag(help: "Record the files of a JSON directory as they are, after the check.")
    var accept = false

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
      if b == nil, oneWay { throw ValidationError("--one-way compares two stores; add the URL of store B") }
      if b != nil, accept { throw ValidationError("--accept belongs to the check of one store") }
    }

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let stores = ToolStores(session, isVerbose: common.verbose)
      try stores.check(a)
      guard let b else { return try StoreVerification(stores: stores, session: session).run(a, self) }
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
