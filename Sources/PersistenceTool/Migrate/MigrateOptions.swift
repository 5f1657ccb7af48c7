import ArgumentParser
import Foundation
import PersistenceDriver
import PersistenceMigration

/// What is copied and how: the options of the command migrate that make the library's.
struct MigrateOptions: ParsableArguments {
  // Unconditional, here and below: what a user names may begin with a minus, and stands so in the command to resume.
  @Option(
    parsing: .unconditionalSingleValue,
    help: "A model to copy; may stand several times, and all are copied without it.")
  var model: [String] = []

  @Flag(help: "Say what would be done, and write nothing.")
  var dryRun = false

  @Option(help: "How many records are written in one transaction.")
  var batch = MigrationOptions().batchSize

  @Option(
    help: ArgumentHelp(
      "What is done with a record whose key the destination holds: fail (before anything is written), skip or replace.",
      valueName: "choice"), transform: choice)
  var onConflict: MigrationOptions.Conflicts = .fail

  @Option(
    help: ArgumentHelp(
      "What is done with a record that cannot be carried over: stop or reject.", valueName: "choice"),
    transform: choice)
  var onError: MigrationOptions.Failures = .stop

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Where rejected records are listed, as NDJSON.", valueName: "file"))
  var rejects: String?

  @Option(help: "How many records may be rejected before the run stops.")
  var maxRejects: Int?

  @Flag(help: "Go on where an interrupted run stopped.")
  var resume = false

  @Flag(help: "Remove what an interrupted run made, and begin anew.")
  var restart = false

  @Option(
    help: ArgumentHelp("How the copy is checked: none, count, digest or full.", valueName: "choice"),
    transform: choice)
  var verify: MigrationOptions.Verification = .digest

  @Flag(help: "Let values be changed to what the destination can hold.")
  var allowLossy = false

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("A model's name in the destination.", valueName: "old=new"))
  var rename: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("What becomes of a field; may stand several times.", valueName: "model.field=rule"))
  var map: [String] = []

  func validate() throws {
    if batch < 1 { throw ValidationError("--batch must be at least 1") }
    if resume, restart { throw ValidationError("--resume and --restart exclude each other") }
    if dryRun, resume || restart || rejects != nil {
      let other = resume ? "--resume" : restart ? "--restart" : "--rejects"
      throw ValidationError("--dry-run writes nothing, so it excludes \(other)")
    }
    if onError == .stop, rejects != nil || maxRejects != nil {
      throw ValidationError("\(rejects != nil ? "--rejects" : "--max-rejects") needs --on-error reject")
    }
    if let maxRejects, maxRejects < 0 { throw ValidationError("--max-rejects cannot be negative") }
    if Set(model.map(StoredName.init)).count < model.count {
      throw ValidationError("--model names a model twice")
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

  /// The options as they are typed, those left out that say what is done anyway.
  func words(resuming: Bool) -> [String] {
    var words = model.flatMap { ["--model", $0] }
    if batch != MigrationOptions().batchSize { words += ["--batch", "\(batch)"] }
    if onConflict != .fail { words += ["--on-conflict", onConflict.rawValue] }
    if onError != .stop { words += ["--on-error", onError.rawValue] }
    if let rejects { words += ["--rejects", rejects] }
    if let maxRejects { words += ["--max-rejects", "\(maxRejects)"] }
    if verify != .digest { words += ["--verify", verify.rawValue] }
    if allowLossy { words.append("--allow-lossy") }
    words += rename.flatMap { ["--rename", $0] } + map.flatMap { ["--map", $0] }
    if resuming { words.append("--resume") }
    return words
  }
}

/// One of the words that a choice has.
private func choice<Value: RawRepresentable & CaseIterable>(_ text: String) throws -> Value
where Value.RawValue == String {
  guard let value = Value(rawValue: text) else {
    throw ValidationError("“\(text)” is none of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
  }
  return value
}
