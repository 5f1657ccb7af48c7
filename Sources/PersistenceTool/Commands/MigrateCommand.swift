import ArgumentParser
import PersistenceDriver
import PersistenceMigration

/// Copies a whole store to another engine.
struct MigrateCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Copy all models of a store into another, empty one, and check the copy.")

  @Argument(help: "The URL of the store to copy.")
  var source: String

  @Argument(help: "The URL of the store to fill; it must hold no records.")
  var destination: String

  @Option(help: "How many records are written in one transaction.")
  var batch = MigrationOptions().batchSize

  /// How the copy is checked.
  enum Check: String, ExpressibleByArgument, CaseIterable {
    case none, count, digest, full

    /// What the library calls it.
    var verification: MigrationOptions.Verification {
      switch self {
      case .none: .none
      case .count: .count
      case .digest: .digest
      case .full: .full
      }
    }
  }

  @Option(help: "How the copy is checked: none, count, digest or full.")
  var verify: Check = .digest

  @Option(help: "How progress is shown: auto, plain or none.")
  var progress: ProgressDisplay.Style = .auto

  @Option(help: "How the result is printed: table or json.")
  var format: ResultFormat = .table

  @OptionGroup var common: CommonOptions

  func validate() throws {
    if batch < 1 { throw ValidationError("--batch must be at least 1") }
  }

  func run(in session: ToolSession) throws -> ToolFailure.Exit {
    let stores = ToolStores(session, isVerbose: common.verbose)
    try stores.check(source)
    try stores.checkApart(source, destination, "source and destination are one store")
    let report = try stores.with(stores.openForReading(source)) { source in
      try stores.with(stores.openForWriting(destination)) { try copy(source, $0, session) }
    }
    switch format {
    case .table: try printTable(report, session)
    case .json: try session.output.line(EncodedText.json(report))
    }
    return .success
  }

  private func copy(
    _ source: any StorageContext, _ destination: any StorageContext, _ session: ToolSession
  ) throws -> MigrationReport {
    let display = ProgressDisplay(session, style: progress)
    let options = MigrationOptions(batchSize: batch, verification: verify.verification)
    var written = 0
    do {
      let report = try Migration(from: source, to: destination, options: options).run { progress in
        if progress.phase == .copying { written = max(written, progress.done) }
        try display.update(progress)
      }
      try display.finish()
      return report
    } catch {
      try display.finish()
      if written > 0 {
        try session.say("the destination holds a part of the source: remove it before trying again")
      }
      throw error
    }
  }

  private func printTable(_ report: MigrationReport, _ session: ToolSession) throws {
    var table = TextTable(
      [
        .init(title: "model"), .init(title: "records", isRight: true), .init(title: "bytes", isRight: true),
        .init(title: "time", isRight: true), .init(title: "digest"),
      ], output: session.output)
    for model in report.models {
      try table.add([
        model.name, "\(model.counts.written)", "\(model.bytes)", ProgressDisplay.duration(model.seconds),
        model.digest.map { String($0.description.prefix(16)) } ?? "",
      ])
    }
    try table.finish()
    let checked =
      switch report.verification {
      case .none: "not checked"
      case .count: "counted in the destination"
      case .digest: "read back, and the digests are the same"
      case .full: "read back, and compared record by record"
      }
    let models = report.models.count
    try session.output.line(
      "\(report.counts.written) record\(report.counts.written == 1 ? "" : "s") of \(models) model\(models == 1 ? "" : "s") "
        + "copied, \(checked)")
  }
}
