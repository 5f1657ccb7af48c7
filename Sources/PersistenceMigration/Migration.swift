import Foundation
public import PersistenceDriver
import PersistenceDriverSupport

/// A copy of one store's models into another store, between any two engines, through the driver contract alone.
///
/// A migration reads its source from one snapshot, so concurrent writes do not affect the copy. One thread reads while
/// another writes; at most a few megabytes of records are in memory between them.
///
/// Each batch of records is one transaction. The same transaction saves a checkpoint in a *ledger* within the
/// destination. A destination with a ledger is incomplete: a repository over it throws
/// ``PersistenceError/Code/incompleteStore``. When all records are copied, the migration verifies them as
/// ``MigrationOptions/verification`` specifies. One last transaction then removes the ledger and so publishes the copy.
///
/// A cancellation, a kill, a power failure or a full disk may interrupt a migration at any point. To continue, run it
/// again with ``MigrationOptions/start`` set to ``MigrationOptions/Start/resume``. It first compares both stores with
/// the ledger, and then copies the remaining records.
public struct Migration: Sendable {
  /// The store to copy.
  public let source: any StorageContext
  /// The store to fill.
  public let destination: any StorageContext
  /// What to copy, and how.
  public let options: MigrationOptions
  /// The receiver of rejected records.
  public let rejects: (any MigrationRejectSink)?

  /// Creates a migration.
  ///
  /// - Parameters:
  ///   - source: The store to copy.
  ///   - destination: The store to fill.
  ///   - options: What to copy, and how.
  ///   - rejects: The receiver of rejected records.
  public init(
    from source: any StorageContext, to destination: any StorageContext,
    options: MigrationOptions = MigrationOptions(), rejects: (any MigrationRejectSink)? = nil
  ) {
    self.source = source
    self.destination = destination
    self.options = options
    self.rejects = rejects
  }

  /// Copies, verifies and publishes.
  ///
  /// - Parameter progress: A closure that the migration calls outside of transactions. If it throws, the migration
  ///   stops and rethrows the error; the migration can be resumed.
  /// - Returns: The report.
  /// - Throws: Before anything is written, ``PersistenceError`` with code
  ///   ``PersistenceError/Code/destinationNotEmpty``, ``PersistenceError/Code/incompleteStore`` or
  ///   ``PersistenceError/Code/lossyMigration``. If the migration cannot be resumed,
  ///   ``PersistenceError/Code/notResumable``, ``PersistenceError/Code/otherMigration``,
  ///   ``PersistenceError/Code/sourceChanged`` or ``PersistenceError/Code/destinationChanged``. Otherwise
  ///   ``PersistenceError/Code/brokenReference`` if the copy lacks a record to which another one refers,
  ///   ``PersistenceError/Code/tooManyRejects``, ``PersistenceError/Code/verificationFailed``, and any error of reading
  ///   or writing.
  public func run(_ progress: (StoreProgress) throws -> Void = { _ in }) throws -> MigrationReport {
    try validate()
    if options.copiesEverything { return try copy(progress) }
    // Records of the source lack the removed fields of the destination.
    return try Migration(
      from: source, to: destination.hidingRemovedFields(), options: options, rejects: rejects
    ).copy(progress)
  }

  private func copy(_ progress: (StoreProgress) throws -> Void) throws -> MigrationReport {
    let whole = try source.snapshot()
    try whole.requireFinished(at: source.location)
    let snapshot = options.copiesEverything ? whole : try whole.hidingRemovedFields()
    let mappers = try mappers(in: snapshot)
    let (losses, unmappedObjects) = try requireAllowedLosses(of: mappers, in: snapshot, progress)
    if options.clearsDestination { try requireReadable(mappers, in: snapshot, progress) }
    return try destination.monitor.whileFilling {
      var report = try fill(mappers, from: snapshot, progress)
      (report.losses, report.unmappedObjects) = (losses, unmappedObjects + report.unmappedObjects)
      return report
    }
  }

  private func fill(
    _ mappers: [RecordMapper], from snapshot: any StorageSnapshot, _ progress: (StoreProgress) throws -> Void
  ) throws -> MigrationReport {
    let preparation = Preparation(migration: self, mappers: mappers)
    var rejectCount = 0
    var ledger: Ledger
    switch options.start {
    case .new: ledger = try preparation.begin()
    case .restart: ledger = try preparation.restart()
    case .resume:
      ledger = try Resumption(migration: self, mappers: mappers, snapshot: snapshot).ledger(progress)
      rejectCount = try replayRejects()
    }
    var report = MigrationReport(
      models: [], verification: options.verification, isResumed: options.start == .resume)
    let references = try ReferenceCopy(mappers, in: snapshot, options)
    report.unmappedObjects = references.lost
    for (index, mapper) in mappers.enumerated() {
      let model = ModelMigration(migration: self, mapper: mapper, snapshot: snapshot)
      report.models.append(try model.run(&ledger.entries[index], &rejectCount, progress))
    }
    if options.verification == .full {
      report.comparison = try FullVerification(migration: self, mappers: mappers, snapshot: snapshot)
        .run(report, progress)
    }
    report.rejects = try RejectStore.read(
      from: destination, location: destination.location, limit: MigrationReport.rejectLimit)
    try references.check(destination)
    try destination.transaction { transaction in
      for entry in ledger.entries {
        try Ledger.require(entry, in: transaction, location: destination.location)
      }
      try references.save(in: transaction)
      try Ledger.remove(in: transaction)
      if options.leavesReceipt { try MoveReceipt(ledger).save(in: transaction) }
    }
    return report
  }

  /// Sends the rejects of earlier runs to the sink.
  ///
  /// The snapshot must be gone before copying starts: it keeps an engine from reusing old pages, so that the destination
  /// would grow with every transaction. Returns the number of rejects.
  private func replayRejects() throws -> Int {
    let snapshot = try destination.snapshot()
    if let rejects { try RejectStore.replay(to: rejects, from: snapshot, location: destination.location) }
    return try RejectStore.count(in: snapshot)
  }

  private func validate() throws {
    guard options.batchSize > 0, options.batchBytes > 0 else {
      throw PersistenceError.invalidRequest("a batch must allow at least one record and one byte")
    }
    if let limit = options.maxRejects, limit < 0 {
      throw PersistenceError.invalidRequest("maxRejects is \(limit); it must be 0 or greater")
    }
    let isOneStore =
      source.capabilities.hasFiles && destination.capabilities.hasFiles
      && Self.path(of: source) == Self.path(of: destination)
    guard source.innermost !== destination.innermost, !isOneStore else {
      throw PersistenceError.invalidRequest("the source and the destination are the same store")
    }
    guard !destination.capabilities.isReadOnly else {
      throw PersistenceError.readOnly(destination.location)
    }
    try source.requireComplete()
  }

  /// The path of a store, the same for all ways to write it.
  private static func path(of store: any StorageContext) -> String {
    URL(fileURLWithPath: store.location).standardizedFileURL.resolvingSymlinksInPath().path
  }

  /// Reads all that is to replace the destination's content: a damaged or empty source must not delete that first.
  private func requireReadable(
    _ mappers: [RecordMapper], in snapshot: any StorageSnapshot, _ progress: (StoreProgress) throws -> Void
  ) throws {
    guard !mappers.isEmpty else {
      throw PersistenceError(
        .missingStore, "the backup contains no models; nothing was changed; check its URL",
        location: source.location)
    }
    for mapper in mappers {
      var damage: PersistenceError?
      try RecordScan(schema: mapper.source, reader: snapshot).run(progress) { row in
        _ = try row.values()
      } unreadable: { error in
        damage = damage ?? error
      }
      if let damage { throw damage }
    }
  }

  /// The mappers of the models to copy, sorted by the bytes of the models' names.
  func mappers(in snapshot: any StorageSnapshot) throws -> [RecordMapper] {
    let schemas = try chosenModels(of: snapshot.catalog())
    try options.mapping.check(against: schemas)
    return try schemas.map { try RecordMapper(options.mapping, $0, allowsLoss: options.allowLossy) }
  }
}

/// What a migration copies.
extension Migration {
  /// Selects the models to copy: those that the options name, or all.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` if the source lacks a named model.
  func chosenModels(of catalog: [ModelSchema]) throws -> [ModelSchema] {
    if options.copiesEverything { return catalog.filter { !Ledger.isOwn($0) } }
    let own = catalog.filter { !$0.isReserved }
    guard let names = options.models else { return own }
    for name in names where !own.contains(where: { StoredName($0.name) == StoredName(name) }) {
      let known = own.map { "“\($0.name)”" }.joined(separator: ", ")
      throw PersistenceError.invalidRequest(
        "the source has no model “\(name)”; its models are \(own.isEmpty ? "none" : known)")
    }
    let chosen = Set(names.map(StoredName.init))
    return own.filter { chosen.contains(StoredName($0.name)) }
  }

  /// Lists the source's unmapped objects; if the options name models, only the objects of those models.
  func unmappedObjects(of snapshot: any StorageSnapshot, besides schemas: [ModelSchema]) throws
    -> [UnmappedObject]
  {
    let unmappedObjects = try snapshot.unmappedObjects()
    guard options.models != nil else { return unmappedObjects }
    let chosen = Set(schemas.map { StoredName($0.name) })
    return unmappedObjects.filter { object in
      object.model.map { chosen.contains(StoredName($0)) } ?? false
    }
  }
}
