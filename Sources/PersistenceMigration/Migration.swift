public import PersistenceDriver
import PersistenceDriverSupport

/// A copy of the models of one store into another, of any engine, through the driver contract alone.
///
/// The source is read from one snapshot, so a source that is written to meanwhile is copied as it was at one moment.
/// One thread reads while another writes; no more than a few megabytes of records are held in memory between them.
/// Records go across in batches, each one transaction, and every such transaction also saves how far the migration has
/// come in a *ledger* within the destination. While that is there, the destination counts as incomplete: a repository
/// over it throws ``PersistenceError/Code/incompleteStore``. In the end the copy is checked as
/// ``MigrationOptions/verification`` says, and then published: one transaction removes the ledger.
///
/// So a migration may be interrupted at any instant, by cancellation, a kill, the loss of power or a full disk, and be
/// resumed later with ``MigrationOptions/start`` as ``MigrationOptions/Start/resume``; what was copied before is
/// compared with what the ledger knows of it, on both sides, and then the rest is copied.
public struct Migration: Sendable {
  /// Where the records come from.
  public let source: any StorageContext
  /// Where the records go.
  public let destination: any StorageContext
  /// How it is done.
  public let options: MigrationOptions
  /// Where records are named that were put aside.
  public let rejects: (any MigrationRejectSink)?

  /// Prepares a migration.
  ///
  /// - Parameters:
  ///   - source: Where the records come from.
  ///   - destination: Where the records go.
  ///   - options: How it is done.
  ///   - rejects: Where records are named that were put aside.
  public init(
    from source: any StorageContext, to destination: any StorageContext,
    options: MigrationOptions = MigrationOptions(), rejects: (any MigrationRejectSink)? = nil
  ) {
    self.source = source
    self.destination = destination
    self.options = options
    self.rejects = rejects
  }

  /// Copies, checks and publishes.
  ///
  /// - Parameter progress: Told how far the work has come, outside of any transaction; what it throws stops the
  ///   migration, which can be resumed, and is thrown on.
  /// - Returns: What was done.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/destinationNotEmpty`` or
  ///   ``PersistenceError/Code/incompleteStore`` before anything is written, also
  ///   ``PersistenceError/Code/lossyMigration`` where the destination cannot hold values as they are,
  ///   ``PersistenceError/Code/notResumable``, ``PersistenceError/Code/otherMigration``,
  ///   ``PersistenceError/Code/sourceChanged`` or ``PersistenceError/Code/destinationChanged`` where it cannot be
  ///   resumed, ``PersistenceError/Code/tooManyRejects``, ``PersistenceError/Code/verificationFailed`` where the copy is
  ///   not what the source holds, and whatever reading and writing meet.
  public func run(_ progress: (MigrationProgress) throws -> Void = { _ in }) throws -> MigrationReport {
    try validate()
    let snapshot = try source.snapshot()
    let routes = try routes(in: snapshot)
    let (losses, unmappedObjects) = try requirePermission(for: routes, in: snapshot, progress)
    let preparation = Preparation(self, routes)
    var ledger =
      switch options.start {
      case .new: try preparation.begin()
      case .restart: try preparation.restart()
      case .resume: try Resumption(self, routes, snapshot).ledger(progress)
      }
    var rejectCount = try tellKeptRejects()
    var report = MigrationReport(
      models: [], verification: options.verification, isResumed: options.start == .resume)
    (report.losses, report.unmappedObjects) = (losses, unmappedObjects)
    for (index, route) in routes.enumerated() {
      let run = ModelRun(migration: self, route: route, snapshot: snapshot)
      report.models.append(try run.run(&ledger.entries[index], &rejectCount, progress))
    }
    if options.verification == .full {
      report.comparison = try FullComparison(self, routes, snapshot).run(report, progress)
    }
    report.rejects = try RejectStore.read(from: destination, limit: MigrationReport.rejectLimit)
    try destination.transaction { transaction in
      for entry in ledger.entries {
        try Ledger.require(entry, in: transaction, location: destination.location)
      }
      try Ledger.remove(in: transaction)
    }
    destination.monitor.note(isComplete: true)
    return report
  }

  /// Tells the sink of what the runs before put aside.
  ///
  /// What it looks at must not stay pinned while records are copied: a destination that may not use the pages of its
  /// old states again grows with every transaction.
  ///
  /// - Returns: How many records that were.
  private func tellKeptRejects() throws -> Int {
    let kept = try destination.snapshot()
    if let rejects { try RejectStore.tell(rejects, of: kept) }
    return try RejectStore.count(in: kept)
  }

  private func validate() throws {
    guard options.batchSize > 0, options.batchBytes > 0 else {
      throw PersistenceError.invalidRequest("a batch must have room for a record")
    }
    if let most = options.maxRejects, most < 0 {
      throw PersistenceError.invalidRequest("the number of rejects \(most) is negative")
    }
    let isOneStore =
      source.location == destination.location && source.capabilities.hasFiles
      && destination.capabilities.hasFiles
    guard source.innermost !== destination.innermost, !isOneStore else {
      throw PersistenceError.invalidRequest("a store cannot be migrated to itself")
    }
    guard !destination.capabilities.isReadOnly else {
      throw PersistenceError.readOnly(destination.location)
    }
    try source.requireComplete()
  }

  /// The models that are copied, in the order of their names' bytes.
  private func routes(in snapshot: any StorageSnapshot) throws -> [ModelRoute] {
    let schemas = try chosenModels(of: snapshot.catalog())
    try options.mapping.check(against: schemas)
    return try schemas.map { schema in
      ModelRoute(mapper: try RecordMapper(options.mapping, schema, allowsLoss: options.allowLossy))
    }
  }
}
