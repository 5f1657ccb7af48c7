#if CommandLineTool
  import ArgumentParser
  import Foundation
  import PersistenceDriver
  import PersistenceMigration

  /// Copies a store to another engine.
  struct MigrateCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "migrate",
      abstract: "Copy the models of a store to another store, and verify the copy.",
      discussion: """
        The command reads one snapshot of the source and never writes to it. The destination must not hold records of \
        the copied models, unless --on-conflict resolves them. Start with --dry-run: it reads the whole source, writes \
        nothing, and reports losses, the required space and the duration. Its exit code is 1 if a run would stop. If the \
        destination cannot store values exactly, a run stops before it writes anything, unless --allow-lossy is given. \
        To continue an interrupted run, use --resume. A file that --rejects or --report names may exist only \
        if an earlier run wrote it.

        The source may be a SQLite database of another program. To copy its views and virtual tables, name them with \
        --model. The report lists objects without a counterpart, such as triggers and foreign keys.

        """ + MigrationMapping.language)

    @Argument(help: "The URL of the store to copy.")
    var source: String

    @Argument(help: "The URL of the store to fill.")
    var destination: String

    @OptionGroup var arguments: MigrateOptions

    @Option(help: "How to show progress: auto, plain, json or none.")
    var progress: ProgressDisplay.Style = .auto

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("Write a JSON report to this file, also if the run fails.", valueName: "file.json"))
    var report: String?

    @Option(help: "How to print the result: table or json.")
    var format: ResultFormat = .table

    @OptionGroup var common: CommonOptions

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let options = try arguments.options()
      let stores = ToolStores(session, isVerbose: common.verbose)
      var paths = PathConflicts(stores)
      try paths.addStore(source, as: "the source")
      try paths.addStore(destination, as: "the destination", isWritten: true)
      if let rejects = arguments.rejects {
        try paths.addOutput(rejects, as: "--rejects", replacing: .rejects)
      }
      if let report { try paths.addOutput(report, as: "--report", replacing: .report) }
      return try stores.with(stores.openForCopying(source, models: arguments.model)) { source in
        let migration = MigrationSession(
          source: source, sourceURL: self.source, destinationURL: destination, options: options,
          arguments: arguments, report: report, format: format, session: session, stores: stores,
          display: ProgressDisplay(session, style: progress, keepsBars: true))
        try migration.validateNames()
        return try arguments.dryRun ? migration.plan() : migration.copy(resumeCommand: resumeCommand)
      }
    }

    /// The command that resumes this run; the user must insert passwords.
    private var resumeCommand: String {
      var words = ["persistence", "migrate", StoreURL.redacted(source), StoreURL.redacted(destination)]
      words += arguments.words(isResuming: true)
      if let report { words += ["--report", report] }
      return words.map(ShellText.quoted).joined(separator: " ")
    }
  }

  /// The options of `migrate` that determine the library's options.
  struct MigrateOptions: ParsableArguments {
    // Unconditional: names may start with a minus, and the resume command repeats them in this form.
    @Option(
      parsing: .unconditionalSingleValue,
      help: "A model to copy; may be repeated. Default: all models.")
    var model: [String] = []

    @Flag(help: "Plan the run and write nothing.")
    var dryRun = false

    @Option(help: "The maximum number of records per transaction.")
    var batch = MigrationOptions().batchSize

    @Option(
      help: ArgumentHelp(
        "How to resolve a record whose key exists in the destination: fail (before anything is written), skip or replace.",
        valueName: "choice"), transform: choice)
    var onConflict: MigrationOptions.Conflicts = .fail

    @Option(
      help: ArgumentHelp(
        "How to handle a record that cannot be copied: stop or reject.", valueName: "choice"),
      transform: choice)
    var onError: MigrationOptions.Failures = .stop

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("Write rejected records to this file, as NDJSON.", valueName: "file"))
    var rejects: String?

    @Option(help: "The maximum number of rejected records before the run stops.")
    var maxRejects: Int?

    @Flag(help: "Continue an interrupted run.")
    var resume = false

    @Flag(help: "Remove what an interrupted run copied, and start over.")
    var restart = false

    @Option(
      help: ArgumentHelp("How to verify the copy: none, count, digest or full.", valueName: "choice"),
      transform: choice)
    var verify: MigrationOptions.Verification = .digest

    @Flag(help: "Allow changes to values that the destination cannot store exactly.")
    var allowLossy = false

    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp("A model's new name; may be repeated.", valueName: "old=new"))
    var rename: [String] = []

    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp("A mapping rule for a field; may be repeated.", valueName: "model.field=rule"))
    var map: [String] = []

    func validate() throws {
      if batch < 1 { throw ValidationError("--batch must be at least 1") }
      if resume, restart { throw ValidationError("--resume and --restart exclude each other") }
      if dryRun, resume || restart || rejects != nil {
        let other = resume ? "--resume" : restart ? "--restart" : "--rejects"
        throw ValidationError("--dry-run and \(other) exclude each other, because a dry run writes nothing")
      }
      if onError == .stop, rejects != nil || maxRejects != nil {
        throw ValidationError("\(rejects != nil ? "--rejects" : "--max-rejects") requires --on-error reject")
      }
      if let maxRejects, maxRejects < 0 { throw ValidationError("--max-rejects must be at least 0") }
      if Set(model.map(StoredName.init)).count < model.count {
        throw ValidationError("--model names the same model twice")
      }
      _ = try mapping()
    }

    private func mapping() throws -> MigrationMapping {
      do {
        return try MigrationMapping.parse(renames: rename, rules: map)
      } catch let error as PersistenceError {
        throw ValidationError(error.message)
      }
    }

    /// The library's options.
    func options() throws -> MigrationOptions {
      MigrationOptions(
        models: model.isEmpty ? nil : model, batchSize: batch, conflicts: onConflict, failures: onError,
        maxRejects: maxRejects, start: resume ? .resume : restart ? .restart : .new, allowLossy: allowLossy,
        verification: verify, mapping: try mapping())
    }

    /// The command-line words for these options, without defaults.
    func words(isResuming: Bool) -> [String] {
      var words = model.flatMap { ["--model", $0] }
      if batch != MigrationOptions().batchSize { words += ["--batch", "\(batch)"] }
      if onConflict != .fail { words += ["--on-conflict", onConflict.rawValue] }
      if onError != .stop { words += ["--on-error", onError.rawValue] }
      if let rejects { words += ["--rejects", rejects] }
      if let maxRejects { words += ["--max-rejects", "\(maxRejects)"] }
      if verify != .digest { words += ["--verify", verify.rawValue] }
      if allowLossy { words.append("--allow-lossy") }
      words += rename.flatMap { ["--rename", $0] } + map.flatMap { ["--map", $0] }
      if isResuming { words.append("--resume") }
      return words
    }
  }

  /// Reads the value of an option that is a choice of words.
  func choice<Value: RawRepresentable & CaseIterable>(_ text: String) throws -> Value
  where Value.RawValue == String {
    guard let value = Value(rawValue: text) else {
      throw ValidationError(
        "“\(text)” is not one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return value
  }
#endif
