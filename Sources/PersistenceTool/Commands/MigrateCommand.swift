import ArgumentParser
import Foundation
import PersistenceDriver
import PersistenceMigration

/// Copies a whole store to another engine.
struct MigrateCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Copy the models of a store into another one, and check the copy.",
    discussion: """
      The source is read as it is at one moment, and never written to. The destination must hold no records, unless \
      --on-conflict says what becomes of them. Begin with --dry-run: it reads the whole source and says what would be \
      lost, how much room is needed and how long it takes, and writes nothing; its exit code is 1 where a run would \
      stop. Values that the destination cannot hold as they are stop a run before anything is written, unless \
      --allow-lossy allows them to be changed. An interrupted run is continued by --resume.

      A SQLite database that another program made is a source, too. Its views and virtual tables are copied where \
      --model names them; what has no counterpart, such as triggers and foreign keys, is listed.

      """ + MigrationMapping.language)

  @Argument(help: "The URL of the store to copy.")
  var source: String

  @Argument(help: "The URL of the store to fill.")
  var destination: String

  @OptionGroup var choices: MigrateOptions

  @Option(help: "How progress is shown: auto, plain, json or none.")
  var progress: ProgressDisplay.Style = .auto

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Where a report is written as JSON, also of a run that fails.", valueName: "file.json")
  )
  var report: String?

  @Option(help: "How the result is printed: table or json.")
  var format: ResultFormat = .table

  @OptionGroup var common: CommonOptions

  func run(in session: ToolSession) throws -> ToolFailure.Exit {
    let options = try choices.options()
    let stores = ToolStores(session, isVerbose: common.verbose)
    var places = PathConflicts(stores)
    try places.addStore(source, as: "the source")
    try places.addStore(destination, as: "the destination", isWritten: true)
    if let rejects = choices.rejects { try places.addOutput(rejects, as: "--rejects") }
    if let report { try places.addOutput(report, as: "--report") }
    let opened = try MigrationSource(stores).open(source, models: choices.model)
    return try stores.with(opened) { source in
      let run = MigrationRun(
        source: source, sourceURL: self.source, destinationURL: destination, options: options,
        choices: choices,
        report: report, format: format, session: session, stores: stores,
        display: ProgressDisplay(session, style: progress, keepsBars: true))
      try run.checkMapping()
      return try choices.dryRun ? run.plan() : run.copy(resuming: resumeCommand)
    }
  }

  /// What to type to go on where this run was stopped; passwords are left for the user to fill in.
  private var resumeCommand: String {
    var words = ["persistence", "migrate", StoreURL.redacted(source), StoreURL.redacted(destination)]
    words += choices.words(resuming: true)
    if let report { words += ["--report", report] }
    return words.map(ShellText.quoted).joined(separator: " ")
  }
}
