#if CommandLineTool
  import ArgumentParser
  import PersistenceDriver
  import PersistenceDriverSupport

  /// Checks whether code with certain declarations would open a store.
  struct SchemaCheckCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "check", abstract: "Check whether code that declares a schema would open a store.",
      discussion: """
        Each line starts with = (no change), + (new), * (changes), - (removed) or ! (refused), followed by the changes or \
        by the words that the code needs. A line with ? names a stored field that a new one may have renamed. The command \
        writes nothing. The exit code is 1 if the code would be refused.
        """)

    @Argument(help: "The schema's file.")
    var file: String

    @Argument(help: "The store's URL.")
    var url: String

    @Option(help: "How to print the result: table or json.")
    var format: ResultFormat = .table

    @OptionGroup var common: CommonOptions

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let stores = ToolStores(session, isVerbose: common.verbose)
      try stores.check(url)
      let document = try SchemaDocument(contentsOf: file)
      return try stores.with(stores.openForReading(url, surveying: true)) { store in
        let opening = try SchemaOpening(document, store.snapshot(), location: store.location)
        try session.print(opening, as: format) { try opening.print($0) }
        return opening.isRefused ? .differences : .success
      }
    }
  }

  /// Changes a store as code with certain declarations would.
  struct SchemaApplyCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "apply", abstract: "Change a store as code that declares a schema would on opening.",
      discussion: """
        The whole change is one transaction. Indexes of large models are built afterwards, in transactions of their own: \
        run the command again if it is interrupted. Removed fields and models are hidden, not erased. Start with \
        --dry-run, which prints what check prints. The exit code is 1 if nothing was changed, because the code would be \
        refused, or because only the app can compute a value.
        """)

    @Argument(help: "The schema's file.")
    var file: String

    @Argument(help: "The store's URL.")
    var url: String

    @Flag(help: "Print the changes and write nothing.")
    var dryRun = false

    @Option(help: "How to show progress: auto, plain, json or none.")
    var progress: ProgressDisplay.Style = .auto

    @Option(help: "How to print the result: table or json.")
    var format: ResultFormat = .table

    @OptionGroup var common: CommonOptions

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let stores = ToolStores(session, isVerbose: common.verbose)
      try stores.check(url)
      let document = try SchemaDocument(contentsOf: file)
      if dryRun {
        return try stores.with(stores.openForReading(url, surveying: true)) { store in
          try report(SchemaOpening(document, store.snapshot(), location: store.location), session)
        }
      }
      return try stores.with(stores.openForWriting(url, mustExist: true)) { store in
        try store.requireComplete()
        let display = ProgressDisplay(session, style: progress)
        let opening = try apply(document, to: store, display)
        let exit = try report(opening, session)
        guard exit == .success else { return exit }
        try store.finishIndexes { try display.update($0) }
        try display.finish()
        return .success
      }
    }

    private func apply(
      _ document: SchemaDocument, to store: any StorageContext, _ display: ProgressDisplay
    ) throws -> SchemaOpening {
      var found = SchemaOpening()
      try store.keepingTransaction(.exclusive, declares: true) { transaction in
        found = try SchemaOpening(document, transaction, location: store.location)
        guard !found.isRefused, !found.needsCode else { return }
        try document.apply(in: transaction, location: store.location) { try display.update($0) }
      }
      try display.finish()
      return found
    }

    private func report(_ opening: SchemaOpening, _ session: ToolSession) throws -> ToolFailure.Exit {
      try session.print(opening, as: format) { try opening.print($0) }
      guard !opening.isRefused, !opening.needsCode else {
        let reason = opening.isRefused ? "" : "only the app can compute values; open the store with the app; "
        try session.say("\(reason)nothing was changed")
        return .differences
      }
      if dryRun { try session.say("nothing was changed, because of --dry-run") }
      return .success
    }
  }
#endif
