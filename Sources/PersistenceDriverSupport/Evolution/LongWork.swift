package import PersistenceDriver

extension StorageReader {
  /// The most records whose indexes are built with a change of schema.
  ///
  /// SQLite builds an index over 5,000 records in about 1 ms, and no engine of this package takes more than 5 ms, the
  /// goal for an opening. So a small store never has an index that waits.
  private var largestImmediateBuild: Int { 5_000 }

  /// Whether a model has so many records that its new indexes wait.
  package func isLarge(_ schema: ModelSchema) throws -> Bool {
    try count(FetchRequest(schema, limit: largestImmediateBuild + 1)) > largestImmediateBuild
  }
}

/// Work on the records of one model whose progress a caller follows.
///
/// A cancelled task cancels the work, as the caller's closure does if it throws.
struct LongWork {
  let phase: StoreProgress.Phase
  /// The name of the model in reports.
  let model: String
  let total: Int

  /// Prepares work on all records of a model.
  init(_ phase: StoreProgress.Phase, _ name: String, of schema: ModelSchema, in reader: any StorageReader)
    throws
  {
    (self.phase, model) = (phase, name)
    total = try reader.count(FetchRequest(schema))
  }

  func report(_ done: Int, _ progress: (StoreProgress) throws -> Void) throws {
    try Task.checkCancellation()
    try progress(StoreProgress(phase: phase, model: model, done: min(done, total), total: total))
  }

  /// Runs a part of the work.
  func part<Result>(_ progress: (StoreProgress) throws -> Void, _ work: () throws -> Result) throws -> Result
  {
    try Task.checkCancellation()
    return try StoreProgress.following({ try report($0, progress) }, work)
  }

  /// Runs the whole work.
  func whole(_ progress: (StoreProgress) throws -> Void, _ work: () throws -> Void) throws {
    try report(0, progress)
    try part(progress, work)
    try report(total, progress)
  }
}

extension StorageTransaction {
  /// Changes a schema, and reports the progress unless the change costs only the catalog.
  func evolve(_ change: SchemaChange, cost: EvolutionCost, _ progress: (StoreProgress) throws -> Void) throws
  {
    guard cost > .catalog else { return try evolve(change) }
    let phase = cost == .rewrite ? StoreProgress.Phase.rewriting : .indexing
    try LongWork(phase, change.target.name, of: change.stored, in: self).whole(progress) {
      try evolve(change)
    }
  }
}
