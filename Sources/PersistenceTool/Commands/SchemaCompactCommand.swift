#if CommandLineTool
  import ArgumentParser
  import PersistenceDriver
  import PersistenceDriverSupport

  /// Shows a removed field or model again.
  struct SchemaRestoreCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "restore", abstract: "Restore a removed field or model with its values.",
      discussion: """
        The command show lists what a store has removed. An app with a .remove rule for the field or model removes it \
        again when it opens the store.
        """)

    @Argument(help: "The store's URL.")
    var url: String

    @Argument(help: ArgumentHelp("The removed field or model.", valueName: "model[.field]"))
    var name: String

    @OptionGroup var common: CommonOptions

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let stores = ToolStores(session, isVerbose: common.verbose)
      return try stores.with(stores.openForWriting(url, mustExist: true)) { store in
        try store.requireComplete()
        var restored: RemovedData?
        try store.transaction { transaction in
          let content = try RemovedData.content(named: name, in: transaction)
          restored = try RemovedData(content, transaction)
          try SchemaStore.restore(content, in: transaction)
        }
        if let restored { try session.output.line(TerminalText.safe("restored \(restored.summary)")) }
        return .success
      }
    }
  }

  /// Erases removed fields and models.
  struct SchemaCompactCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "compact", abstract: "Erase removed fields and models for ever.",
      discussion: """
        Without --erase, the command lists what could be erased, and fails. A copy of the store is the only way back. \
        The records of a model that loses a field are rewritten, all in one transaction.
        """)

    @Argument(help: "The store's URL.")
    var url: String

    // Unconditional: names may start with a minus.
    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp("A removed field or model to erase; may be repeated.", valueName: "model[.field]"))
    var erase: [String] = []

    @OptionGroup var common: CommonOptions

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let stores = ToolStores(session, isVerbose: common.verbose)
      guard !erase.isEmpty else {
        return try stores.with(stores.openForReading(url)) { try list(try $0.snapshot(), session) }
      }
      return try stores.with(stores.openForWriting(url, mustExist: true)) { store in
        try store.requireComplete()
        var erased: [RemovedData] = []
        try store.transaction { transaction in
          var seen: Set<RemovedContent> = []
          let contents = try erase.map { try RemovedData.content(named: $0, in: transaction) }
            .filter { seen.insert($0).inserted }
          erased = try contents.map { try RemovedData($0, transaction) }
          try SchemaStore.erase(contents, in: transaction)
        }
        for data in erased { try session.output.line(TerminalText.safe("erased \(data.summary)")) }
        return .success
      }
    }

    /// Lists what could be erased; fails unless there is nothing.
    private func list(_ reader: any StorageReader, _ session: ToolSession) throws -> ToolFailure.Exit {
      let removed = try RemovedData.all(in: reader)
      guard !removed.isEmpty else {
        try session.output.line("the store contains nothing removed")
        return .success
      }
      throw ToolFailure.usage(
        TerminalText.safe(
          "nothing was erased; --erase with a name erases for ever: "
            + removed.map(\.summary).joined(separator: "; ")))
    }
  }
#endif
