import PersistenceDriver
import PersistenceDriverSupport

/// The migration of one model: copies its records, builds its indexes and verifies both.
struct ModelMigration {
  let migration: Migration
  let mapper: RecordMapper
  let snapshot: any StorageSnapshot

  /// Completes the steps that the ledger does not record as done.
  ///
  /// Each transaction updates the model's ledger entry and the number of rejects of all models.
  func run(
    _ entry: inout LedgerEntry, _ rejectCount: inout Int, _ progress: (StoreProgress) throws -> Void
  ) throws -> MigrationReport.Model {
    let start = ContinuousClock.now
    let readBefore = entry.counts.read
    try copy(&entry, &rejectCount, progress)
    let copyTime = (ContinuousClock.now - start).timeInterval
    if entry.state == .copied {
      var indexed = entry
      indexed.state = .indexed
      try buildIndexes(entry, then: indexed, progress)
      entry = indexed
    }
    try ModelVerification(migration: migration, schema: mapper.destination).run(entry, progress)
    let read = entry.counts.read - readBefore
    return MigrationReport.Model(
      name: mapper.source.name, destinationName: mapper.destination.name, counts: entry.counts,
      bytes: entry.bytes, seconds: (ContinuousClock.now - start).timeInterval,
      rate: copyTime > 0 ? Double(read) / copyTime : 0, digest: entry.now.digest)
  }

  /// Copies the remaining records: takes batches from the reading thread, and writes each transaction's batches together
  /// with the ledger entry that follows from them.
  private func copy(
    _ entry: inout LedgerEntry, _ rejectCount: inout Int, _ progress: (StoreProgress) throws -> Void
  ) throws {
    guard entry.state == .copying else { return }
    let total = try snapshot.count(try FetchRequest(mapper.source))
    func report(_ entry: LedgerEntry) throws {
      try progress(
        StoreProgress(
          phase: .copying, model: mapper.source.name, done: entry.counts.read, total: total,
          bytes: entry.bytes, rejected: entry.counts.rejected))
    }
    try report(entry)
    try SourceReader.withQueue(of: mapper, in: snapshot, migration.options, from: entry.position) { queue in
      while entry.state == .copying {
        let unchanged = BatchWriter(migration, mapper, entry, rejectCount: rejectCount)
        var writer = unchanged
        try migration.destination.transaction { transaction in
          writer = unchanged
          try writer.run(from: queue, in: transaction)
        }
        entry = writer.entry
        rejectCount += writer.rejects.count
        if !writer.rejects.isEmpty { try migration.rejects?.add(writer.rejects) }
        try report(entry)
      }
    }
  }

  /// Builds the indexes that were deferred until the records are copied, in as many transactions as the engine needs.
  ///
  /// The last transaction replaces the ledger entry. If `progress` throws, the build stops and can be resumed.
  func buildIndexes(
    _ entry: LedgerEntry, then indexed: LedgerEntry, _ progress: (StoreProgress) throws -> Void
  ) throws {
    let (schema, destination) = (mapper.destination, migration.destination)
    var isBuilt = false
    while !isBuilt {
      if !schema.indexes.isEmpty {
        try progress(
          StoreProgress(phase: .indexing, model: mapper.source.name, done: 0, total: entry.now.count))
      }
      try destination.transaction { transaction in
        try Ledger.require(entry, in: transaction, location: destination.location)
        isBuilt = try transaction.buildIndexes(of: schema)
        if isBuilt { try Ledger.save(indexed, in: transaction) }
      }
    }
  }
}
