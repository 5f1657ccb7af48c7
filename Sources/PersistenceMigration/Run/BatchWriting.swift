import PersistenceDriver

/// The writing of one transaction's batches.
struct BatchWriting {
  private let migration: Migration
  private let route: ModelRoute
  private var options: MigrationOptions { migration.options }
  private let digester: RecordDigester?
  private let firstReject: Int

  /// What the ledger is to know of the model when the transaction is committed.
  private(set) var entry: LedgerEntry
  /// The records that the transaction put aside.
  private(set) var rejects: [MigrationReject] = []

  init(_ migration: Migration, _ route: ModelRoute, _ entry: LedgerEntry, rejectCount: Int) {
    self.migration = migration
    self.route = route
    self.entry = entry
    firstReject = rejectCount
    digester = migration.options.verification.wantsDigest ? RecordDigester(route.destination) : nil
  }

  /// Writes batches up to the one that ends the transaction, then what was put aside, then the ledger's entry.
  mutating func run(from queue: BatchQueue, in transaction: any StorageTransaction) throws {
    try Ledger.require(entry, in: transaction, location: migration.destination.location)
    entry.keyBeforeBatch = entry.lastKey
    var isFinished = false
    while !isFinished {
      let batch = try queue.pop()
      try write(batch, transaction)
      isFinished = batch.endsTransaction
      if isFinished {
        entry.lastKey = batch.lastKey
        entry.failuresBehind = batch.failuresBehind
      }
      if batch.endsModel { entry.state = .copied }
      queue.giveBack(batch)
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
      try putAside(
        MigrationReject(
          failure.error, model: route.source.name, position: failure.position, record: failure.record),
        failure.error)
    }
    var written = 0
    for index in 0..<batch.count {
      do {
        try batch.withRow(index) { try transaction.insert($0, in: route.destination) }
        written += 1
      } catch let error as PersistenceError {
        try batch.withRow(index) { row in
          try settle(row, batch.position(of: index), error, transaction)
        }
      }
    }
    entry.counts.written += written
    entry.now.count += written
  }

  /// Deals with a row that was refused.
  private mutating func settle(
    _ row: borrowing Row, _ position: Int, _ error: PersistenceError, _ transaction: any StorageTransaction
  ) throws {
    switch (error.code, options.conflicts) {
    case (.duplicateKey, .skip):
      entry.counts.skipped += 1
      withdraw(row)
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
      _ = try transaction.find(try RecordKey(of: row, in: route.destination), in: route.destination) { row in
        old = digester?.digest(of: row)
      }
    }
    try transaction.update(row, in: route.destination)
    if let old { entry.now.digest?.subtract(old) }
    entry.counts.replaced += 1
  }

  private mutating func reject(_ row: borrowing Row, _ position: Int, _ error: PersistenceError) throws {
    guard options.failures == .reject, error.isAboutOneRecord else {
      let key = try RecordKey(of: row, in: route.destination)
      throw error.at(model: route.destination.name, key: key)
    }
    withdraw(row)
    try putAside(
      MigrationReject(error, row, route.destination, model: route.source.name, position: position), error)
  }

  /// Takes a row that does not arrive out of what the destination holds.
  private mutating func withdraw(_ row: borrowing Row) {
    if let digest = digester?.digest(of: row) { entry.now.digest?.subtract(digest) }
  }

  private mutating func putAside(_ reject: MigrationReject, _ error: PersistenceError) throws {
    rejects.append(reject)
    entry.counts.rejected += 1
    guard let most = options.maxRejects, firstReject + rejects.count > most else { return }
    throw PersistenceError.tooManyRejects(most, last: reject, location: migration.destination.location)
  }
}
