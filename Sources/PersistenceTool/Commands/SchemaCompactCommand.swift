#if CommandLineTool
  import ArgumentParser
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceMigration

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
        try store.keepingTransaction(.exclusive) { transaction in
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
      commandName: "compact", abstract: "Erase removed fields and models permanently.",
      discussion: """
        Without --erase, the command lists what could be erased, and fails. A copy of the store, such as --backup makes, \
        is the only way back. The records of a model that loses a field are rewritten. The fields of each model are one \
        transaction, and each model is one: if the command is interrupted, run it again with the names that are left. \
        The backup is a store of the same engine; schema restore works in it.
        """)

    @Argument(help: "The store's URL.")
    var url: String

    // Unconditional: names may start with a minus.
    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp("A removed field or model to erase; may be repeated.", valueName: "model[.field]"))
    var erase: [String] = []

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "Copy the store, with everything that was removed, to this new file or folder first.",
        valueName: "path"))
    var backup: String?

    @Option(help: "How to show progress: auto, plain, json or none.")
    var progress: ProgressDisplay.Style = .auto

    @OptionGroup var common: CommonOptions

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let stores = ToolStores(session, isVerbose: common.verbose)
      guard !erase.isEmpty else {
        guard backup == nil else {
          throw ToolFailure.usage("--backup has no effect without --erase; nothing was copied")
        }
        return try stores.with(stores.openForReading(url)) { try list(try $0.snapshot(), session) }
      }
      let backupURL = try backup.map { try self.backupURL($0, stores) }
      return try stores.with(stores.openForWriting(url, mustExist: true)) { store in
        try store.requireComplete()
        let display = ProgressDisplay(session, style: progress)
        let (contents, erased) = try chosen(in: store.snapshot())
        if let backupURL { try copy(store, to: backupURL, stores, display, session) }
        try SchemaStore.erase(contents, in: store) { try display.update($0) }
        try display.finish()
        for data in erased { try session.output.line(TerminalText.safe("erased \(data.summary)")) }
        return .success
      }
    }

    /// The content to erase, and what erasing it loses.
    private func chosen(in reader: any StorageReader) throws -> ([RemovedContent], [RemovedData]) {
      var seen: Set<RemovedContent> = []
      let contents = try erase.map { try RemovedData.content(named: $0, in: reader) }
        .filter { seen.insert($0).inserted }
      return (contents, try contents.map { try RemovedData($0, reader) })
    }

    /// The URL of a new store at a path, of the same engine.
    private func backupURL(_ path: String, _ stores: ToolStores) throws -> String {
      let source = try stores.check(url)
      guard stores.hasFiles(source) else {
        throw ToolFailure.usage("--backup: the store has no files; run persistence backup first")
      }
      guard path.prefix(while: { $0 != "/" }).firstIndex(of: ":") == nil else {
        throw ToolFailure.usage(
          TerminalText.safe("--backup takes a path, not a URL; “\(path)” has a scheme, or begin it with ./"))
      }
      guard !path.isEmpty, !FileManager.default.fileExists(atPath: path) else {
        throw ToolFailure.usage(
          TerminalText.safe("--backup: “\(path)” exists already; name a new file or folder"))
      }
      let target = source.text(at: path, without: ["create", "readonly"])
      var paths = PathConflicts(stores)
      try paths.addStore(url, as: "the store", isWritten: true)
      try paths.addStore(target, as: "--backup", isWritten: true)
      return target
    }

    /// Copies everything that the store contains.
    private func copy(
      _ store: any StorageContext, to target: String, _ stores: ToolStores, _ display: ProgressDisplay,
      _ session: ToolSession
    ) throws {
      try stores.with(stores.openForWriting(target)) { destination in
        _ = try StoreBackup.copy(store, to: destination, verification: .digest) { try display.update($0) }
      }
      try display.finish()
      try session.output.line(TerminalText.safe("copied the store to \(StoreURL.redacted(target))"))
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
          "nothing was erased; --erase with a name erases permanently: "
            + removed.map(\.summary).joined(separator: "; ")))
    }
  }
#endif
