import PersistenceDriver

/// What is done before an interrupted migration goes on: source and destination are compared with what the ledger knows
/// of them, so that what arrives in the end is what the source held at one moment.
struct Resumption {
  let migration: Migration
  let routes: [ModelRoute]
  let snapshot: any StorageSnapshot
  private var location: String { migration.destination.location }

  init(_ migration: Migration, _ routes: [ModelRoute], _ snapshot: any StorageSnapshot) {
    self.migration = migration
    self.routes = routes
    self.snapshot = snapshot
  }

  /// The ledger, once everything is found to be as it left it.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notResumable``,
  ///   ``PersistenceError/Code/otherMigration``, ``PersistenceError/Code/sourceChanged`` or
  ///   ``PersistenceError/Code/destinationChanged``.
  func ledger(_ progress: (MigrationProgress) throws -> Void) throws -> Ledger {
    // One state of the destination, so that what another process commits meanwhile is no difference.
    let destination = try migration.destination.snapshot()
    guard let ledger = try Ledger.find(in: destination, location: location) else {
      throw PersistenceError.notResumable(location)
    }
    let head = Preparation(migration, routes).head
    if let difference = ledger.head.difference(from: head) {
      throw PersistenceError.otherMigration(difference, location: location)
    }
    migration.destination.monitor.note(isComplete: false)
    var ordered = ledger
    ordered.entries = []
    for route in routes {
      guard let entry = ledger.entries.first(where: { StoredName($0.model) == StoredName(route.source.name) })
      else { throw PersistenceError.otherMigration("it knows no \(route.source.name)", location: location) }
      ordered.entries.append(entry)
      if entry.counts.read > 0 || entry.state != .copying {
        try checkSource(entry, route, destination, progress)
        // The content of a model that is finished is verified in the end.
        if entry.state == .copying { try checkDestination(entry, route, destination, progress) }
      }
    }
    return try prepareToReject(ordered, progress)
  }

  /// Builds the unique indexes that were to wait for the last record, where records are to be put aside from now on: an
  /// index says which record it refuses only while that is written.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/otherMigration`` where records that have been
  ///   copied contradict one.
  private func prepareToReject(_ ledger: Ledger, _ progress: (MigrationProgress) throws -> Void) throws
    -> Ledger
  {
    guard migration.options.failures == .reject else { return ledger }
    for (entry, route) in zip(ledger.entries, routes)
    where entry.isOurs && entry.state != .indexed && route.destination.indexes.contains(where: \.isUnique) {
      do {
        try migration.buildIndexes(of: route, entry, then: entry, progress)
      } catch let error as PersistenceError where error.code == .uniqueViolation {
        throw PersistenceError.otherMigration(
          "it was begun without putting records aside, and has copied some that have to be: \(error.message)",
          location: location)
      }
    }
    return ledger
  }

  private func checkSource(
    _ entry: LedgerEntry, _ route: ModelRoute, _ destination: any StorageSnapshot,
    _ progress: (MigrationProgress) throws -> Void
  ) throws {
    let all = try snapshot.count(try FetchRequest(route.source))
    let isWhole = entry.state != .copying
    guard isWhole ? all == entry.counts.read : all >= entry.counts.read else {
      throw PersistenceError.sourceChanged(
        route.source.name,
        "\(entry.counts.read) records had been read, there are \(all)\(isWhole ? "" : " in all") now",
        location: migration.source.location)
    }
    guard entry.read != nil else {
      if !isWhole { try checkLastBatch(entry, route, destination) }
      return
    }
    // Of the records that could not be read, those behind the last one that could are not part of it.
    let part = try SourceContent.read(
      route, snapshot, migration.options, limit: isWhole ? nil : entry.place.position
    ) { done in
      try progress(
        MigrationProgress(
          phase: .resuming, model: route.source.name, done: done, total: entry.counts.read))
    }
    guard part.digest == entry.read, isWhole || part.lastKey == entry.lastKey else {
      throw PersistenceError.sourceChanged(
        route.source.name,
        "the digest of the \(entry.counts.read) records that had been read is no longer the same",
        location: migration.source.location)
    }
  }

  private func checkDestination(
    _ entry: LedgerEntry, _ route: ModelRoute, _ snapshot: any StorageSnapshot,
    _ progress: (MigrationProgress) throws -> Void
  ) throws {
    let schema = route.destination
    let count = try snapshot.count(try FetchRequest(schema))
    guard count == entry.now.count else {
      throw PersistenceError.destinationChanged(
        schema.name, "it held \(entry.now.count) records and holds \(count)", location: location)
    }
    guard let digest = entry.now.digest else { return }
    let content = try StoreContent.read(schema, of: snapshot, total: count, phase: .resuming, progress)
    guard content.digest == digest else {
      throw PersistenceError.destinationChanged(
        schema.name, "the digest of its \(count) records is no longer the same", location: location)
    }
  }

  /// Without digests, what the last transaction copied is compared record by record.
  private func checkLastBatch(
    _ entry: LedgerEntry, _ route: ModelRoute, _ destination: any StorageSnapshot
  ) throws {
    guard let last = entry.lastKey else { return }
    var found: RecordKey?
    let request = try FetchRequest(route.source, limit: 1, offset: max(0, entry.place.position - 1))
    _ = try snapshot.fetch(request).read(from: 0, limit: 1) {
      found = try RecordKey(of: $0, in: route.source)
    }
    guard found == last else {
      throw PersistenceError.sourceChanged(
        route.source.name,
        "record number \(entry.place.position) had the key \(last) and has "
          + (found.map { "\($0)" } ?? "none"), location: migration.source.location)
    }
    try LastBatch(migration, route, snapshot).check(entry, in: destination)
  }
}
