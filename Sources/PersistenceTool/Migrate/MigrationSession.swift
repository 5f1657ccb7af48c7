#if CommandLineTool
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceMigration

  /// One invocation of `migrate` with an open source.
  struct MigrationSession {
    let source: any StorageContext
    let sourceURL: String
    let destinationURL: String
    let options: MigrationOptions
    let arguments: MigrateOptions
    let report: String?
    let format: ResultFormat
    let session: ToolSession
    let stores: ToolStores
    let display: ProgressDisplay

    /// Checks that the source has all named models and fields, before anything is opened for writing.
    func validateNames() throws {
      let catalog = try source.catalog().filter { !$0.isReserved }
      let known = Set(catalog.map { StoredName($0.name) })
      for name in arguments.model where !known.contains(StoredName(name)) {
        if let object = try source.unmappedObjects().first(where: {
          StoredName($0.name) == StoredName(name) && $0.model == nil
        }) {
          throw ToolFailure.usage(
            "“\(TerminalText.safe(name))” cannot be copied: \(TerminalText.safe(object.detail))")
        }
        let names = catalog.map { "“\($0.name)”" }.joined(separator: ", ")
        throw ToolFailure.usage(
          TerminalText.safe(
            "--model: \(source.location) has no model “\(name)”; its models are \(names.isEmpty ? "none" : names)"
          ))
      }
      let chosen = Set(arguments.model.map(StoredName.init))
      try options.mapping.check(
        against: catalog.filter { chosen.isEmpty || chosen.contains(StoredName($0.name)) })
    }

    /// Prints the plan of a run.
    func plan() throws -> ToolFailure.Exit {
      let plan = try PlannedDestination(stores: stores).with(destinationURL) { destination in
        let migration = Migration(from: source, to: destination.context, options: options)
        var plan = try migration.plan { try display.update($0) }
        try display.finish()
        try destination.estimate(&plan, of: source, options: options)
        return plan
      }
      let obstacles = PlanObstacles(plan, options)
      try write(MigrationSessionReport(self, plan: plan, obstacles: obstacles.lines))
      try session.print(plan, as: format) { try PlanPrinter(output: $0).print(plan, obstacles.lines) }
      return obstacles.lines.isEmpty ? .success : .differences
    }

    /// Runs the migration and prints its report.
    func copy(resumeCommand: String) throws -> ToolFailure.Exit {
      let started = ContinuousClock.now
      let done = try run(resumeCommand, started)
      let seconds = (ContinuousClock.now - started).timeInterval
      let written = Result { try write(MigrationSessionReport(self, report: done, seconds: seconds)) }
      do {
        try display.finish()
        try session.print(done, as: format) {
          try MigrationPrinter(output: $0).print(done, seconds: seconds, rejects: arguments.rejects)
        }
        try session.output.flush()
        try written.get()
      } catch {
        throw failureAfterCopy(error)
      }
      return done.counts.rejected > 0 ? .rejects : .success
    }

    private func run(_ resumeCommand: String, _ started: ContinuousClock.Instant) throws -> MigrationReport {
      var (hasStarted, isDone) = (false, false)
      do {
        return try stores.with(stores.openForWriting(destinationURL, mustExist: options.start == .resume)) {
          destination in
          let sink = arguments.rejects.map { MigrationRejectFile(path: $0) }
          let migration = Migration(from: source, to: destination, options: options, rejects: sink)
          let report = try migration.run { progress in
            if progress.phase == .copying { hasStarted = true }
            try display.update(progress)
          }
          isDone = true
          return report
        }
      } catch {
        try? display.finish()  // Report the first error.
        if isDone { throw failureAfterCopy(error) }
        let failure = ToolRunner.failure(error)
        // A resumed run always finds a partial copy, even if it is interrupted before it copies anything.
        let isResumable = hasStarted || (failure.exit == .interrupted && options.start == .resume)
        // A report that cannot be written must not hide this error.
        try? write(
          MigrationSessionReport(
            self, failure: failure, seconds: (ContinuousClock.now - started).timeInterval,
            resume: isResumable ? resumeCommand : nil))
        guard isResumable else { throw error }
        throw ToolFailure(
          exit: failure.exit,
          message: failure.message + "\nthe destination holds part of the source; to continue, run:\n  "
            + TerminalText.safe(resumeCommand))
      }
    }

    /// A failure after the migration completed.
    private func failureAfterCopy(_ error: any Error) -> ToolFailure {
      let failure = ToolRunner.failure(error)
      return ToolFailure(
        exit: failure.exit,
        message:
          "everything is copied\(options.verification == .none ? "" : " and verified"), and there is nothing to "
          + "resume; but " + failure.message)
    }

    private func write(_ report: MigrationSessionReport) throws {
      guard let path = self.report else { return }
      let target = try FileReplacement(path, replacesExisting: true)
      try target.commit { try target.write(JSONReport.text(report) + "\n") }
    }
  }

  /// The content of the `--report` file.
  ///
  /// The property names are its format.
  private struct MigrationSessionReport: Encodable {
    enum Outcome: String, Encodable {
      case planned, done, interrupted, failed
    }

    let source: String
    let destination: String
    let outcome: Outcome
    var seconds: Double?
    /// The options in command-line form.
    let options: [String]
    var report: MigrationReport?
    var plan: MigrationPlan?
    /// The reasons why a run would stop.
    var obstacles: [String]?
    var error: String?
    /// The command that continues the run.
    var resume: String?

    private init(_ session: MigrationSession, _ outcome: Outcome) {
      source = StoreURL.redacted(session.sourceURL)
      destination = StoreURL.redacted(session.destinationURL)
      self.outcome = outcome
      options = session.arguments.words(isResuming: session.arguments.resume)
    }

    init(_ session: MigrationSession, plan: MigrationPlan, obstacles: [String]) {
      self.init(session, .planned)
      (self.plan, self.obstacles) = (plan, obstacles)
    }

    init(_ session: MigrationSession, report: MigrationReport, seconds: Double) {
      self.init(session, .done)
      (self.report, self.seconds) = (report, seconds)
    }

    init(_ session: MigrationSession, failure: ToolFailure, seconds: Double, resume: String?) {
      self.init(session, failure.exit == .interrupted ? .interrupted : .failed)
      (error, self.seconds, self.resume) = (failure.message, seconds, resume)
    }
  }
#endif
