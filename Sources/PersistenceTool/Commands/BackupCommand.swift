#if CommandLineTool
  import ArgumentParser
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceMigration

  /// Copies a whole store into a backup.
  struct BackupCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "backup", abstract: "Copy a whole store, as it is now, into a new store.",
      discussion: """
        Programs may use the store meanwhile: the command reads one snapshot. The backup may be a store of any engine. It \
        contains everything: removed fields, the past of the schemas, and writes that wait for a server. If the command \
        is interrupted, the backup is incomplete and cannot be opened; run the command again.
        """)

    @Argument(help: "The URL of the store.")
    var store: String

    @Argument(help: "The URL of the backup, which must not hold records.")
    var backup: String

    @OptionGroup var options: BackupOptions

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let stores = ToolStores(session, isVerbose: options.common.verbose)
      var paths = PathConflicts(stores)
      try paths.addStore(store, as: "the store")
      try paths.addStore(backup, as: "the backup", isWritten: true)
      return try stores.with(stores.openForReading(store)) { source in
        try stores.with(stores.openForWriting(backup)) { destination in
          try options.copy(source, to: destination, replacesContent: false, in: session)
        }
      }
    }
  }

  /// Copies a backup into a store.
  struct RestoreCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "restore", abstract: "Copy a backup into a store.",
      discussion: """
        The store must not hold records, unless --replace is given: then all of them are deleted first. No program may use \
        the store meanwhile. If the command is interrupted, the store is incomplete and cannot be opened; run it again.
        """)

    @Argument(help: "The URL of the backup.")
    var backup: String

    @Argument(help: "The URL of the store.")
    var store: String

    @Flag(help: "Delete everything that the store holds.")
    var replace = false

    @OptionGroup var options: BackupOptions

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let stores = ToolStores(session, isVerbose: options.common.verbose)
      var paths = PathConflicts(stores)
      try paths.addStore(backup, as: "the backup")
      try paths.addStore(store, as: "the store", isWritten: true)
      return try stores.with(stores.openForReading(backup)) { source in
        try stores.with(stores.openForWriting(store)) { destination in
          try options.copy(source, to: destination, replacesContent: replace, in: session)
        }
      }
    }
  }

  /// The options of `backup` and `restore`.
  struct BackupOptions: ParsableArguments {
    @Option(
      help: ArgumentHelp("How to verify the copy: none, count, digest or full.", valueName: "choice"),
      transform: choice)
    var verify: MigrationOptions.Verification = .digest

    @Option(help: "How to show progress: auto, plain, json or none.")
    var progress: ProgressDisplay.Style = .auto

    @Option(help: "How to print the result: table or json.")
    var format: ResultFormat = .table

    @OptionGroup var common: CommonOptions

    func copy(
      _ source: any StorageContext, to destination: any StorageContext, replacesContent: Bool,
      in session: ToolSession
    ) throws -> ToolFailure.Exit {
      let started = ContinuousClock.now
      let display = ProgressDisplay(session, style: progress)
      defer { try? display.finish() }  // A display failure must not lose the result.
      let report = try StoreBackup.copy(
        source, to: destination, replacesContent: replacesContent, verification: verify
      ) { try display.update($0) }
      try display.finish()
      let seconds = (ContinuousClock.now - started).timeInterval
      try session.print(report, as: format) {
        try MigrationPrinter(output: $0).print(report, seconds: seconds, rejects: nil)
      }
      return .success
    }
  }
#endif
