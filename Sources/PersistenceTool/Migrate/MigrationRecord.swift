import PersistenceDriver
import PersistenceMigration

/// What `--report` writes: a run, how it ended, and what it did or would do.
struct MigrationRecord: Encodable {
  /// How a run ended.
  enum Outcome: String, Encodable {
    case planned, done, interrupted, failed
  }

  let source: String
  let destination: String
  let outcome: Outcome
  var seconds: Double?
  /// The options as they are typed.
  let options: [String]
  /// What was done.
  var report: MigrationReport?
  /// What would be done.
  var plan: MigrationPlan?
  /// What would stop a run.
  var obstacles: [String]?
  /// Why it ended otherwise than well.
  var error: String?
  /// What to type to go on.
  var resume: String?

  private init(_ run: MigrationRun, _ outcome: Outcome) {
    source = StoreURL.redacted(run.sourceURL)
    destination = StoreURL.redacted(run.destinationURL)
    self.outcome = outcome
    options = run.choices.words(resuming: run.choices.resume)
  }

  init(run: MigrationRun, plan: MigrationPlan, obstacles: [String]) {
    self.init(run, .planned)
    (self.plan, self.obstacles) = (plan, obstacles)
  }

  init(run: MigrationRun, report: MigrationReport, seconds: Double) {
    self.init(run, .done)
    (self.report, self.seconds) = (report, seconds)
  }

  init(run: MigrationRun, failure: ToolFailure, seconds: Double, resume: String?) {
    self.init(run, failure.exit == .interrupted ? .interrupted : .failed)
    (error, self.seconds, self.resume) = (failure.message, seconds, resume)
  }
}
