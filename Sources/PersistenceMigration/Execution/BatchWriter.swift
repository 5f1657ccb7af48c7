import PersistenceDriver
import PersistenceDriverSupport

/// Writes the batches of one transaction.
struct BatchWriter {
  private let migration: Migration
  private let mapper: RecordMapper
  private var options: MigrationOptions { migration.options }
  private let digester: RecordDigester?
  private let firstReject: Int

  /// The ledger entry after the transaction commits.
  private(set) var entry: LedgerEntry
  /// The records that the transaction rejected.
  private(set) var rejects: [MigrationReject] = []

  init(_ migration: Migration, _ mapper: RecordMapper, _ entry: LedgerEntry, rejectCount: Int) {
    self.migration = migration
    self.mapper = mapper
    self.entry = entry
    firstReject = rejectCount
    digester = migration.options.verification.computesDigests ? RecordDigester(mapper.destination) : nil
  }

  /// Writes all batches of the transaction, then the rejects, then the ledger entry.
  mutating func run(from queue: BatchQueue, in transaction: any StorageTransaction) throws {
    try Ledger.require(entry, in: transaction, location: migration.destination.location)
    entry.keyBeforeBatch = entry.lastKey
    try queue.forEach { batch in
      try write(batch, transaction)
      if batch.endsTransaction {
        entry.lastKey = batch.lastKey
        entry.failuresBehind = batch.failuresBehind
      }
      if batch.endsModel { entry.state = .copied }
      return !batch.endsTransaction
    }
    try RejectStore.save(rejects, from: firstReject, in: transaction)
    try Ledger.save(entry, in: transaction)
  }

  private mutating func write(_ batch: RowBatch, _ transaction: any StorageTransaction) throws {
    if let digester {
      let digest = batch.digest(by: digester)
      entry.read?.add(digest)
      entry.now.digest?.add(digest)
    }
    entry.bytes += batch.bytes
    entry.counts.read += batch.count + batch.failures.count
    for failure in batch.failures {
      try append(
        MigrationReject(
          failure.error, model: mapper.source.name, position: failure.position, record: failure.record))
    }
    // The engine may take all rows at once. If it refuses one, it has none, and says one by one why.
    var written = 0
    if try transaction.insertTogether(batch.count, in: mapper.destination, batch.withRow) {
      written = batch.count
    }
    for index in written..<batch.count {
      do {
        try batch.withRow(index) { try transaction.insert($0, in: mapper.destination) }
        written += 1
      } catch let error as PersistenceError {
        try batch.withRow(index) { row in
          try resolve(error, of: row, at: batch.position(of: index), transaction)
        }
      }
    }
    entry.counts.written += written
    entry.now.count += written
  }

  /// Skips, replaces or rejects a row that the destination refused.
  private mutating func resolve(
    _ error: PersistenceError, of row: borrowing Row, at position: Int, _ transaction: any StorageTransaction
  ) throws {
    switch (error.code, options.conflicts) {
    case (.duplicateKey, .skip):
      entry.counts.skipped += 1
      subtractDigest(of: row)
    case (.duplicateKey, .replace):
      do {
        try replace(row, transaction)
      } catch let error as PersistenceError {
        try reject(row, position, error)
      }
    default: try reject(row, position, error)
    }
  }

  private mutating func replace(_ row: borrowing Row, _ transaction: any StorageTransaction) throws {
    var old: RecordDigest?
    if digester != nil {
      _ = try transaction.find(try RecordKey(of: row, in: mapper.destination), in: mapper.destination) {
        old = digester?.digest(of: $0)
      }
    }
    try transaction.update(row, in: mapper.destination)
    if let old { entry.now.digest?.subtract(old) }
    entry.counts.replaced += 1
  }

  private mutating func reject(_ row: borrowing Row, _ position: Int, _ error: PersistenceError) throws {
    guard options.failures == .reject, error.concernsOneRecord else {
      let key = try RecordKey(of: row, in: mapper.destination)
      throw error.at(model: mapper.destination.name, key: key)
    }
    subtractDigest(of: row)
    try append(MigrationReject(error, row, mapper.destination, model: mapper.source.name, position: position))
  }

  /// Removes a row that was not written from the expected digest.
  private mutating func subtractDigest(of row: borrowing Row) {
    if let digest = digester?.digest(of: row) { entry.now.digest?.subtract(digest) }
  }

  private mutating func append(_ reject: MigrationReject) throws {
    rejects.append(reject)
    entry.counts.rejected += 1
    guard let limit = options.maxRejects, firstReject + rejects.count > limit else { return }
    throw PersistenceError.tooManyRejects(limit, last: reject, location: migration.destination.location)
  }
}
