import PersistenceDriver
import PersistenceDriverSupport

/// The checks before an interrupted migration continues: both stores must match the ledger, so that the finished copy
/// equals the source at one moment.
struct Resumption {
  let migration: Migration
  let mappers: [RecordMapper]
  let snapshot: any StorageSnapshot
  private var location: String { migration.destination.location }

  /// Reads the ledger and checks both stores against it.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notResumable``,
  ///   ``PersistenceError/Code/otherMigration``, ``PersistenceError/Code/sourceChanged`` or
  ///   ``PersistenceError/Code/destinationChanged``.
  func ledger(_ progress: (StoreProgress) throws -> Void) throws -> Ledger {
    // One snapshot, so that a concurrent commit is no difference.
    let destination = try migration.destination.snapshot()
    guard let ledger = try Ledger.find(in: destination, location: location) else {
      throw PersistenceError.notResumable(location)
    }
    let head = Preparation(migration: migration, mappers: mappers).head
    if let difference = ledger.head.difference(from: head) {
      throw PersistenceError.otherMigration(difference, location: location)
    }
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
    try buildUniqueIndexes(ordered, progress)
    return ordered
  }

  /// Builds deferred unique indexes if this run rejects records: an index identifies a duplicate only during its insert.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/otherMigration`` if copied records violate a unique
  ///   index.
  private func buildUniqueIndexes(_ ledger: Ledger, _ progress: (StoreProgress) throws -> Void) throws {
    guard migration.options.failures == .reject else { return }
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
  }

  private func checkSource(
    _ entry: LedgerEntry, _ mapper: RecordMapper, _ destination: any StorageSnapshot,
    _ progress: (StoreProgress) throws -> Void
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
        StoreProgress(
          phase: .resuming, model: mapper.source.name, done: done, total: entry.counts.read))
    }
    guard prefix.digest == entry.read, isWhole || prefix.lastKey == entry.lastKey else {
      throw sourceChanged(mapper, "the digest of the \(entry.counts.read) copied records differs")
    }
  }

  private func checkDestination(
    _ entry: LedgerEntry, _ mapper: RecordMapper, _ snapshot: any StorageSnapshot,
    _ progress: (StoreProgress) throws -> Void
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
    try LastTransactionCheck(migration: migration, mapper: mapper, snapshot: snapshot)
      .run(entry, in: destination)
  }

  private func sourceChanged(_ mapper: RecordMapper, _ reason: String) -> PersistenceError {
    .sourceChanged(mapper.source.name, reason, location: migration.source.location)
  }
}

/// Looks up the records of an interrupted migration's last transaction in the destination, one by one.
private struct LastTransactionCheck {
  let migration: Migration
  let mapper: RecordMapper
  let snapshot: any StorageSnapshot

  /// Checks that the destination holds the records with their values, except rejected and skipped ones.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/destinationChanged``.
  func run(_ entry: LedgerEntry, in destination: any StorageSnapshot) throws {
    let rejected = try rejectedPositions(of: entry, in: destination)
    let (options, start) = (migration.options, ReadPosition(key: entry.keyBeforeBatch))
    let first = try offset(after: entry.keyBeforeBatch)
    try SourceReader.withQueue(of: mapper, in: snapshot, options, from: start, limit: options.batchSize) {
      try $0.forEach { batch in
        for index in 0..<batch.count {
          let position = first + batch.position(of: index)
          if position >= entry.position.offset { return false }
          if rejected.contains(position) { continue }
          try batch.withRow(index) { try check($0, entry, destination) }
        }
        return true
      }
    }
  }

  private func rejectedPositions(of entry: LedgerEntry, in reader: any StorageReader) throws -> Set<Int> {
    var positions: Set<Int> = []
    try RejectStore.forEachPage(in: reader, location: migration.destination.location) { rejects in
      let own = rejects.filter { StoredName($0.model) == StoredName(entry.model) }
      positions.formUnion(own.map(\.position))
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
struct SourcePrefix {
  var digest = ContentDigest()
  var lastKey: RecordKey?

  /// Reads the first records of a model the way the copy does; all if there is no limit.
  static func read(
    _ mapper: RecordMapper, _ snapshot: any StorageSnapshot, _ options: MigrationOptions, limit: Int?,
    _ progress: (Int) throws -> Void
  ) throws -> SourcePrefix {
    let digester = RecordDigester(mapper.destination)
    var (prefix, done) = (SourcePrefix(), 0)
    try SourceReader.forEachBatch(of: mapper, in: snapshot, options, limit: limit) { batch in
      prefix.digest.add(batch.digest(by: digester))
      done += batch.count + batch.failures.count
      guard batch.endsTransaction else { return }
      prefix.lastKey = batch.lastKey
      try progress(done)
    }
    return prefix
  }
}
