import PersistenceDriver

/// The copying of one model: batches are taken from the reading thread and written in transactions, each with the
/// ledger's entry as it is after them.
struct ModelCopy {
  let migration: Migration
  let route: ModelRoute
  let snapshot: any StorageSnapshot

  /// Copies what is left to copy.
  ///
  /// - Parameters:
  ///   - entry: What the ledger knows of the model; brought up to date with each transaction.
  ///   - rejectCount: How many records of all models have been put aside; likewise.
  ///   - progress: Told how far the work has come, between transactions.
  /// - Throws: ``PersistenceError``, and what the closure throws.
  func run(
    _ entry: inout LedgerEntry, rejectCount: inout Int, _ progress: (MigrationProgress) throws -> Void
  ) throws {
    guard entry.state == .copying else { return }
    let total = try snapshot.count(try FetchRequest(route.source))
    func tell(_ entry: LedgerEntry) throws {
      try progress(
        MigrationProgress(
          phase: .copying, model: route.source.name, done: entry.counts.read, total: total,
          bytes: entry.bytes,
          rejected: entry.counts.rejected))
    }
    try tell(entry)
    let queue = BatchQueue(fieldCount: route.destination.fields.count)
    let reading = SourceReading(
      route: route, snapshot: snapshot, queue: queue, options: migration.options, start: entry.place)
    let reader = BackgroundThread("persistence migration") { reading.run() }
    defer {
      queue.cancel()
      reader.join()
    }
    while entry.state == .copying {
      let known = (entry: entry, rejectCount: rejectCount)
      var writing = BatchWriting(migration, route, known.entry, rejectCount: known.rejectCount)
      try migration.destination.transaction { transaction in
        writing = BatchWriting(migration, route, known.entry, rejectCount: known.rejectCount)
        try writing.run(from: queue, in: transaction)
      }
      entry = writing.entry
      rejectCount += writing.rejects.count
      if !writing.rejects.isEmpty { try migration.rejects?.add(writing.rejects) }
      try tell(entry)
    }
  }
}
