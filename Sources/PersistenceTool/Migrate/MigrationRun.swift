import Foundation
import PersistenceDriver
import PersistenceMigration
import PersistenceDriverSupport

/// One run of the command migrate, its source open.
struct MigrationRun {
  let source: any StorageContext
  let sourceURL: String
  let destinationURL: String
  let options: MigrationOptions
  let choices: MigrateOptions
  let report: String?
  let format: ResultFormat
  let session: ToolSession
  let stores: ToolStores
  let display: ProgressDisplay

  /// Makes sure that models and fields that options name are there, before anything is opened for writing.
  func checkMapping() throws {
    let catalog = try source.catalog().filter { !ReservedModel.isReserved($0.name) }
    let known = Set(catalog.map { StoredName($0.name) })
    for name in choices.model where !known.contains(StoredName(name)) {
      if let omission = try source.unmappedObjects().first(where: {
        StoredName($0.name) == StoredName(name) && $0.model == nil
      }) {
        throw ToolFailure.usage(
          "“\(TerminalText.safe(name))” cannot be copied: \(TerminalText.safe(omission.detail))")
      }
      let names = catalog.map { "“\($0.name)”" }.joined(separator: ", ")
      throw ToolFailure.usage(
        TerminalText.safe(
          "--model: \(source.location) holds no “\(name)”; it holds \(names.isEmpty ? "none" : names)"))
    }
    let chosen = Set(choices.model.map(StoredName.init))
    try options.mapping.check(
      against: catalog.filter { chosen.isEmpty || chosen.contains(StoredName($0.name)) })
  }

  /// Says what a run would do.
  func plan() throws -> ToolFailure.Exit {
    let planned = try PlannedDestination(stores, session).with(destinationURL) { destination in
      let migration = Migration(from: source, to: destination.context, options: options)
      var plan = try migration.plan { try display.update($0) }
      try display.finish()
      try destination.estimate(&plan, of: source, options: options)
      return plan
    }
    let obstacles = PlanObstacles(planned, options)
    try write(MigrationRecord(run: self, plan: planned, obstacles: obstacles.lines))
    switch format {
    case .table: try PlanPrinter(session.output).print(planned, obstacles.lines)
    case .json: try session.output.line(EncodedText.json(planned))
    }
    return obstacles.lines.isEmpty ? .success : .differences
  }

  /// Copies and checks, and tells of it.
  func copy(resuming command: String) throws -> ToolFailure.Exit {
    let started = ContinuousClock.now
    let done = try run(resuming: command, started)
    let seconds = (ContinuousClock.now - started).timeInterval
    let written = Result { try write(MigrationRecord(run: self, report: done, seconds: seconds)) }
    do {
      try display.finish()
      switch format {
      case .table:
        try MigrationPrinter(session.output).print(done, seconds: seconds, rejects: choices.rejects)
      case .json: try session.output.line(EncodedText.json(done))
      }
      try session.output.flush()
      try written.get()
    } catch {
      throw finished(but: error)
    }
    return done.counts.rejected > 0 ? .rejects : .success
  }

  /// Copies and checks.
  private func run(resuming command: String, _ started: ContinuousClock.Instant) throws -> MigrationReport {
    var hasBegun = false
    var done: MigrationReport?
    do {
      return try stores.with(stores.openForWriting(destinationURL, mustExist: options.start == .resume)) {
        destination in
        let sink = choices.rejects.map { MigrationRejectFile(path: $0) }
        let migration = Migration(from: source, to: destination, options: options, rejects: sink)
        let report = try migration.run { progress in
          if progress.phase == .copying { hasBegun = true }
          try display.update(progress)
        }
        done = report
        return report
      }
    } catch {
      try? display.finish()  // What stopped the work says more.
      if done != nil { throw finished(but: error) }
      let failure = ToolRunner.failure(error)
      // A run that goes on with another one has that one's copy in the destination, however early it is stopped.
      let goesOn = hasBegun || (failure.exit == .interrupted && options.start == .resume)
      // A report that cannot be written is not the failure to tell about.
      try? write(
        MigrationRecord(
          run: self, failure: failure, seconds: (ContinuousClock.now - started).timeInterval,
          resume: goesOn ? command : nil))
      guard goesOn else { throw error }
      throw ToolFailure(
        exit: failure.exit,
        message: failure.message + "\nthe destination holds a part of the source; go on with:\n  "
          + TerminalText.safe(command))
    }
  }

  /// What is said where the migration is done, and something after it failed.
  private func finished(but error: any Error) -> ToolFailure {
    let failure = ToolRunner.failure(error)
    return ToolFailure(
      exit: failure.exit,
      message:
        "everything is copied\(options.verification == .none ? "" : " and checked"), and there is nothing to "
        + "resume; but " + failure.message)
  }

  private func write(_ record: MigrationRecord) throws {
    guard let report else { return }
    let target = try FileReplacement(report, replacesExisting: true)
    try target.finishing { try target.write(EncodedText.json(record) + "\n") }
  }
}
