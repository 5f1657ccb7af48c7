import PersistenceDriver

/// Where the reading of a model begins, or begins again.
struct ReadingPlace: Sendable {
  /// The record that it comes after; the beginning where it is nil.
  var key: RecordKey?
  /// How many records of the model come before it, up to that record.
  var position = 0
  /// How many records that cannot be read come right behind that one and have been met.
  var failures = 0
}

/// Reads the records of one model, from a key on, into batches: what the reading thread does.
struct SourceReading: Sendable {
  /// A row that is longer is not copied: it passes alone, while the reader waits.
  private static let lentLimit = RowBatch.byteLimit

  let route: ModelRoute
  let snapshot: any StorageSnapshot
  let queue: BatchQueue
  let options: MigrationOptions
  /// Where it begins.
  let start: ReadingPlace
  /// How many records it goes on for; to the end where it is nil.
  var limit: Int?

  /// Reads to the end, or until the writer has given up; whatever fails is handed to the writer.
  func run() {
    do {
      try read()
    } catch {
      queue.fail(error)
    }
  }

  private func read() throws {
    guard let first = queue.takeEmpty() else { return }
    let results = try snapshot.fetch(
      try FetchRequest(route.source, limit: limit, after: start.key.map { PageAnchor($0.values) }))
    var filling = Filling(route, queue, options, batch: first, start: start)
    var page = PageSize()
    // How many rows are read one by one, since one among them cannot be read.
    var (done, alone, isFinished) = (0, 0, false)
    while !isFinished {
      let (before, rows, bytes) = (filling.seen, filling.rows, filling.bytes)
      let limit = alone > 0 ? 1 : page.rows
      do {
        let read = try results.read(from: done, limit: limit) { row in try filling.add(row) }
        done += read
        alone = max(0, alone - 1)
        isFinished = read < limit
      } catch let error as PersistenceError
        where options.failures == .reject && error.isAboutOneRecord && !filling.isAbandoned
      {
        done += filling.seen - before
        if limit > 1 {
          // An engine may have looked ahead: which record it is shows when it is asked for that alone.
          alone = limit
        } else {
          try filling.add(error)
          done += 1
          // A damaged place may hold the whole rest; then every record of it is met once.
          isFinished = done >= (try results.count())
        }
      }
      page.note(rows: filling.rows - rows, bytes: filling.bytes - bytes)
    }
    try filling.finish()
  }

  /// The batch that is being filled, and what is known of the transaction that it will belong to.
  private struct Filling {
    private let source: ModelSchema
    private let keyPositions: [Int]
    private var mapper: RecordMapper?
    private let target: RowBuffer
    private let queue: BatchQueue
    private let options: MigrationOptions
    private let digester: RecordDigester?
    private var batch: RowBatch
    private var position: Int
    private var transactionRows = 0
    private var transactionBytes = 0
    /// How many records that cannot be read come first which were met before.
    private var known: Int
    /// The key of the last record that was read, and how many behind it could not be.
    private let key: RowBuffer
    private var lastKey: RecordKey?
    private var failuresBehind: Int
    /// How many records were read since the beginning, those included that have no counterpart.
    private(set) var seen = 0
    /// What was read since the beginning and goes to the destination.
    private(set) var rows = 0
    private(set) var bytes = 0
    private(set) var isAbandoned = false

    init(
      _ route: ModelRoute, _ queue: BatchQueue, _ options: MigrationOptions, batch: RowBatch,
      start: ReadingPlace
    ) {
      source = route.source
      keyPositions = route.source.keyPositions
      mapper = route.mapper.isIdentity ? nil : route.mapper
      target = RowBuffer(count: route.destination.fields.count)
      self.queue = queue
      self.options = options
      self.batch = batch
      position = start.position
      known = start.failures
      key = RowBuffer(count: route.source.keyPositions.count)
      lastKey = start.key
      failuresBehind = start.failures
      digester = options.verification.wantsDigest ? RecordDigester(route.destination) : nil
      batch.firstPosition = position
    }

    /// Adds a record that could not be read, or has no counterpart.
    mutating func add(_ error: PersistenceError, record: String? = nil) throws {
      defer { position += 1 }
      if known > 0 {
        known -= 1
        batch.firstPosition = position + 1
        return
      }
      try flushWhereFull()
      batch.failures.append(
        RowBatch.Failure(place: batch.count, position: position, error: error, record: record))
      failuresBehind += 1
      transactionRows += 1
    }

    /// Adds a record of the source, as the destination is to have it.
    mutating func add(_ row: borrowing Row) throws {
      guard mapper != nil else { return try add(row, keyOf: row) }
      do {
        try mapper?.map(row, into: target)
      } catch let error as PersistenceError where options.failures == .reject && error.isAboutOneRecord {
        try add(error, record: MigrationReject.text(of: row, source))
        seen += 1
        return
      }
      // The buffer is not the filling's alone: its row may be lent while the filling changes.
      let target = target
      try target.withRow { try add($0, keyOf: row) }
    }

    private mutating func add(_ row: borrowing Row, keyOf source: borrowing Row) throws {
      known = 0
      try flushWhereFull()
      key.reset()
      for (place, position) in keyPositions.enumerated() { key.setCopy(of: source[position], at: place) }
      failuresBehind = 0
      let size = row.approximateSize
      if size > SourceReading.lentLimit {
        if !batch.isEmpty { try flush() }
        batch.appendBorrowed(row, size: size)
        note(size)
        if isTransactionFull { try endTransaction() }
        queue.pushAndWait(batch)
        return try takeNext()
      }
      batch.append(row, size: size)
      note(size)
    }

    mutating func finish() throws {
      try endTransaction()
      batch.endsModel = true
      push()
    }

    private var isTransactionFull: Bool {
      transactionRows >= options.batchSize || transactionBytes >= options.batchBytes
    }

    private mutating func note(_ size: Int) {
      position += 1
      rows += 1
      seen += 1
      bytes += size
      transactionRows += 1
      transactionBytes += size
    }

    /// Hands the batch on before another row is added to it, where it or its transaction is full.
    private mutating func flushWhereFull() throws {
      guard isTransactionFull || batch.isFull else { return }
      if isTransactionFull { try endTransaction() }
      try flush()
    }

    /// Has the transaction end with the batch.
    private mutating func endTransaction() throws {
      if rows > 0 { lastKey = try key.withRow { RecordKey(try $0.values()) } }
      batch.endsTransaction = true
      batch.lastKey = lastKey
      batch.failuresBehind = failuresBehind
      (transactionRows, transactionBytes) = (0, 0)
    }

    private mutating func flush() throws {
      push()
      try takeNext()
    }

    /// Hands the batch on; its digest is made on the side that waits for the other.
    private mutating func push() {
      if let digester, queue.isReaderAhead { _ = batch.digest(by: digester) }
      queue.push(batch)
    }

    private mutating func takeNext() throws {
      guard let next = queue.takeEmpty() else {
        isAbandoned = true
        throw CancellationError()
      }
      batch = next
      batch.firstPosition = position
    }
  }
}

extension PersistenceError {
  /// Whether the error is about what one record is, and not about the medium: the records behind it can be read, or
  /// written.
  var isAboutOneRecord: Bool {
    switch code {
    case .damaged, .uniqueViolation, .valueTooLarge, .invalidRequest, .encodingFailed, .duplicateKey,
      .unsupported:
      true
    default: false
    }
  }
}
