import PersistenceDriver
import PersistenceDriverSupport

/// The checks before an interrupted migration continues: both stores must match the ledger, so that the finished copy
/// equals the source at one moment.
struct Resumption {
  let migration: Migration
  let mappers: [RecordMapper]
  let snapshot: any StorageSnapshot
  private var location: String { migration.destination.location }

  init(_ migration: Migration, _ mappers: [RecordMapper], _ snapshot: any StorageSnapshot) {
    self.migration = migration
    self.mappers = mappers
    self.snapshot = snapshot
  }

  /// Reads the ledger and checks both stores against it.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notResumable``,
  ///   ``PersistenceError/Code/otherMigration``, ``PersistenceError/Code/sourceChanged`` or
  ///   ``PersistenceError/Code/destinationChanged``.
  func ledger(_ progress: (MigrationProgress) throws -> Void) throws -> Ledger {
    // One snapshot, so that a concurrent commit is no difference.
    let destination = try migration.destination.snapshot()
    guard let ledger = try Ledger.find(in: destination, location: location) else {
      throw PersistenceError.notResumable(location)
    }
    let head = Preparation(migration, mappers).head
    if let difference = ledger.head.difference(from: head) {
      throw PersistenceError.otherMigration(difference, location: location)
    }
    migration.destination.monitor.note(isComplete: false)
    var ordered = ledger
    ordered.entries = []
    for mapper in mappers {
      let name = StoredName(mapper.source.name)
      guard let entry = ledger.entries.first(where: { StoredName($0.model) == name }) else {
        throw PersistenceError.otherMigration("it does not include \(mapper.source.name)", location: location)
      }
      ordered.entries.append(entry)
      if entry.counts.read > 0 || entry.state != .copying {
        try checkSource(entry, mapper, destination, progress)
        // The final verification covers the content of a finished model.
        if entry.state == .copying { try checkDestination(entry, mapper, destination, progress) }
      }
    }
    return try buildUniqueIndexes(ordered, progress)
  }

  /// Builds deferred unique indexes if this run rejects records: an index identifies a duplicate only during its insert.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/otherMigration`` if copied records violate a unique
  ///   index.
  private func buildUniqueIndexes(_ ledger: Ledger, _ progress: (MigrationProgress) throws -> Void) throws
    -> Ledger
  {
    guard migration.options.failures == .reject else { return ledger }
    for (entry, mapper) in zip(ledger.entries, mappers)
    where entry.isOurs && entry.state != .indexed && mapper.destination.indexes.contains(where: \.isUnique) {
      do {
        try ModelMigration(migration: migration, mapper: mapper, snapshot: snapshot)
          .buildIndexes(entry, then: entry, progress)
      } catch let error as PersistenceError where error.code == .uniqueViolation {
        throw PersistenceError.otherMigration(
          "it did not reject records, and copied some that this run must reject: \(error.message)",
          location: location)
      }
    }
    return ledger
  }

  private func checkSource(
    _ entry: LedgerEntry, _ mapper: RecordMapper, _ destination: any StorageSnapshot,
    _ progress: (MigrationProgress) throws -> Void
  ) throws {
    let all = try snapshot.count(try FetchRequest(mapper.source))
    let isWhole = entry.state != .copying
    guard isWhole ? all == entry.counts.read : all >= entry.counts.read else {
      throw sourceChanged(
        mapper, "\(entry.counts.read) records were read, and now it holds \(isWhole ? "" : "only ")\(all)")
    }
    guard entry.read != nil else {
      if !isWhole { try checkLastTransaction(entry, mapper, destination) }
      return
    }
    // Unreadable records behind the last readable one are not part of the digest.
    let prefix = try SourcePrefix.read(
      mapper, snapshot, migration.options, limit: isWhole ? nil : entry.position.offset
    ) { done in
      try progress(
        MigrationProgress(
          phase: .resuming, model: mapper.source.name, done: done, total: entry.counts.read))
    }
    guard prefix.digest == entry.read, isWhole || prefix.lastKey == entry.lastKey else {
      throw sourceChanged(mapper, "the digest of the \(entry.counts.read) copied records differs")
    }
  }

  private func checkDestination(
    _ entry: LedgerEntry, _ mapper: RecordMapper, _ snapshot: any StorageSnapshot,
    _ progress: (MigrationProgress) throws -> Void
  ) throws {
    let schema = mapper.destination
    let count = try snapshot.count(try FetchRequest(schema))
    guard count == entry.now.count else {
      throw PersistenceError.destinationChanged(
        schema.name, "it holds \(count) records, expected \(entry.now.count)", location: location)
    }
    guard let digest = entry.now.digest else { return }
    let content = try ModelContent.read(schema, of: snapshot, total: count, phase: .resuming, progress)
    guard content.digest == digest else {
      throw PersistenceError.destinationChanged(
        schema.name, "the digest of its \(count) records differs", location: location)
    }
  }

  /// Compares the records of the last transaction one by one, since there is no digest.
  private func checkLastTransaction(
    _ entry: LedgerEntry, _ mapper: RecordMapper, _ destination: any StorageSnapshot
  ) throws {
    guard let last = entry.lastKey else { return }
    var found: RecordKey?
    let request = try FetchRequest(mapper.source, limit: 1, offset: max(0, entry.position.offset - 1))
    _ = try snapshot.fetch(request).read(from: 0, limit: 1) {
      found = try RecordKey(of: $0, in: mapper.source)
    }
    guard found == last else {
      throw sourceChanged(
        mapper,
        "record number \(entry.position.offset) has the key \(found.map { "\($0)" } ?? "none"), expected \(last)"
      )
    }
    try LastTransactionCheck(migration, mapper, snapshot).run(entry, in: destination)
  }

  private func sourceChanged(_ mapper: RecordMapper, _ reason: String) -> PersistenceError {
    .sourceChanged(mapper.source.name, reason, location: migration.source.location)
  }
}

/// Looks up the records of an interrupted migration's last transaction in the destination, one by one.
private struct LastTransactionCheck {
  private let migration: Migration
  private let mapper: RecordMapper
  private let snapshot: any StorageSnapshot

  init(_ migration: Migration, _ mapper: RecordMapper, _ snapshot: any StorageSnapshot) {
    self.migration = migration
    self.mapper = mapper
    self.snapshot = snapshot
  }

  /// Checks that the destination holds the records with their values, except rejected and skipped ones.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/destinationChanged``.
  func run(_ entry: LedgerEntry, in destination: any StorageSnapshot) throws {
    let rejected = try rejectedPositions(of: entry, in: destination)
    let queue = BatchQueue(fieldCount: mapper.destination.fields.count)
    let source = SourceReader(
      mapper: mapper, snapshot: snapshot, queue: queue, options: migration.options,
      start: ReadPosition(key: entry.keyBeforeBatch), limit: migration.options.batchSize)
    let reader = BlockingThread("persistence migration") { source.run() }
    defer {
      queue.cancel()
      reader.join()
    }
    let first = try offset(after: entry.keyBeforeBatch)
    var isFinished = false
    while !isFinished {
      let batch = try queue.pop()
      for index in 0..<batch.count where !isFinished {
        try batch.withRow(index) { row in
          let position = first + batch.position(of: index)
          isFinished = position >= entry.position.offset
          if !isFinished, !rejected.contains(position) { try check(row, entry, destination) }
        }
      }
      isFinished = isFinished || batch.endsModel
      queue.recycle(batch)
    }
  }

  private func rejectedPositions(of entry: LedgerEntry, in reader: any StorageReader) throws -> Set<Int> {
    var (positions, done, isFinished): (Set<Int>, Int, Bool) = ([], 0, false)
    while !isFinished {
      let rejects = try RejectStore.read(from: reader, after: done, limit: RejectStore.pageSize)
      let own = rejects.filter { StoredName($0.model) == StoredName(entry.model) }
      positions.formUnion(own.map(\.position))
      done += rejects.count
      isFinished = rejects.count < RejectStore.pageSize
    }
    return positions
  }

  private func offset(after key: RecordKey?) throws -> Int {
    guard let key else { return 0 }
    let all = try snapshot.count(try FetchRequest(mapper.source))
    return all - (try snapshot.count(try FetchRequest(mapper.source, after: PageAnchor(key.values))))
  }

  private func check(_ row: borrowing Row, _ entry: LedgerEntry, _ destination: any StorageReader) throws {
    let schema = mapper.destination
    let key = try RecordKey(of: row, in: schema)
    let values = try row.values()
    var isEqual = false
    let exists = try destination.find(key, in: schema) { found in
      isEqual = try entry.counts.skipped > 0 || found.values() == values
    }
    guard exists, isEqual else {
      throw PersistenceError.destinationChanged(
        schema.name, "the record \(key) \(exists ? "has other values" : "is missing")",
        location: migration.destination.location)
    }
  }
}

/// The digest of a model's first records in the source, after mapping.
private struct SourcePrefix {
  var digest = ContentDigest()
  var lastKey: RecordKey?

  /// Reads the first records of a model the way the copy does.
  ///
  /// - Parameters:
  ///   - mapper: The model's mapper.
  ///   - snapshot: The source.
  ///   - options: The options of the copy.
  ///   - limit: The number of records, or nil for all.
  ///   - progress: A closure that receives the number of records read.
  /// - Returns: The digest and the last key.
  /// - Throws: ``PersistenceError``, and any error of the closure.
  static func read(
    _ mapper: RecordMapper, _ snapshot: any StorageSnapshot, _ options: MigrationOptions, limit: Int?,
    _ progress: (Int) throws -> Void
  ) throws -> SourcePrefix {
    let queue = BatchQueue(fieldCount: mapper.destination.fields.count)
    let source = SourceReader(
      mapper: mapper, snapshot: snapshot, queue: queue, options: options, start: ReadPosition(), limit: limit)
    let reader = BlockingThread("persistence migration") { source.run() }
    defer {
      queue.cancel()
      reader.join()
    }
    let digester = RecordDigester(mapper.destination)
    var (prefix, done, isFinished) = (SourcePrefix(), 0, false)
    while !isFinished {
      let batch = try queue.pop()
      prefix.digest.add(batch.digest(by: digester))
      if batch.endsTransaction { prefix.lastKey = batch.lastKey }
      done += batch.count + batch.failures.count
      let endsTransaction = batch.endsTransaction
      isFinished = batch.endsModel
      queue.recycle(batch)
      if endsTransaction { try progress(done) }
    }
    return prefix
  }
}
