import PersistenceDriver
import PersistenceDriverSupport

/// The position at which reading a model starts or continues.
struct ReadPosition: Sendable {
  /// The key of the preceding record; nil at the start.
  var key: RecordKey?
  /// The number of records up to and including that record.
  var offset = 0
  /// The number of already processed unreadable records directly behind that record.
  var failures = 0
}

/// Reads the records of one model from a position on and fills batches; runs on the reading thread.
struct SourceReader: Sendable {
  /// Larger rows are not copied: each is passed in a batch of its own, and the reader waits for the writer.
  private static let borrowLimit = RowBatch.byteLimit

  private let mapper: RecordMapper
  private let snapshot: any StorageSnapshot
  private let queue: BatchQueue
  private let options: MigrationOptions
  private let start: ReadPosition
  /// The number of records to read; nil for all.
  private let limit: Int?

  /// Runs a closure while a second thread fills the queue, and then stops that thread.
  static func withQueue(
    of mapper: RecordMapper, in snapshot: any StorageSnapshot, _ options: MigrationOptions,
    from start: ReadPosition = ReadPosition(), limit: Int? = nil, _ body: (BatchQueue) throws -> Void
  ) throws {
    let queue = BatchQueue(fieldCount: mapper.destination.fields.count)
    let source = SourceReader(
      mapper: mapper, snapshot: snapshot, queue: queue, options: options, start: start, limit: limit)
    let reader = BlockingThread("persistence migration") { source.run() }
    defer {
      queue.cancel()
      reader.join()
    }
    try body(queue)
  }

  /// Passes all batches of a model to a closure while a second thread reads.
  static func forEachBatch(
    of mapper: RecordMapper, in snapshot: any StorageSnapshot, _ options: MigrationOptions,
    from start: ReadPosition = ReadPosition(), limit: Int? = nil, _ body: (RowBatch) throws -> Void
  ) throws {
    try withQueue(of: mapper, in: snapshot, options, from: start, limit: limit) { queue in
      try queue.forEach { batch in
        try body(batch)
        return true
      }
    }
  }

  /// Reads to the end, or until the writer cancels; passes errors to the writer.
  private func run() {
    do {
      try read()
    } catch {
      queue.fail(error)
    }
  }

  private func read() throws {
    guard let first = queue.takeEmpty() else { return }
    let results = try snapshot.fetch(
      try FetchRequest(mapper.source, limit: limit, after: start.key.map { PageAnchor($0.values) }))
    var builder = BatchBuilder(mapper, queue, options, batch: first, start: start)
    var page = PageSize()
    // After a failed page, its rows are read one at a time to find the unreadable one.
    var (done, singles, isFinished) = (0, 0, false)
    while !isFinished {
      let (before, rows, bytes) = (builder.seen, builder.rows, builder.bytes)
      let limit = singles > 0 ? 1 : page.rows
      do {
        let read = try results.read(from: done, limit: limit) { row in try builder.add(row) }
        done += read
        singles = max(0, singles - 1)
        isFinished = read < limit
      } catch let error as PersistenceError
        where options.failures == .reject && error.concernsOneRecord && !builder.isCancelled
      {
        done += builder.seen - before
        if limit > 1 {
          // The engine may have read ahead; only a single read identifies the record.
          singles = limit
        } else {
          try builder.add(error)
          done += 1
          // Damage may extend over all remaining records; each is counted once.
          isFinished = done >= (try results.count())
        }
      }
      page.note(rows: builder.rows - rows, bytes: builder.bytes - bytes)
    }
    try builder.finish()
  }

  /// Fills batches and marks the ends of transactions.
  private struct BatchBuilder {
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
    /// The number of leading unreadable records that an earlier run processed.
    private var known: Int
    /// The key of the last readable record.
    private let key: RowBuffer
    private var lastKey: RecordKey?
    private var failuresBehind: Int
    /// The number of records seen, including those without a counterpart.
    private(set) var seen = 0
    /// The number and size of the rows for the destination.
    private(set) var rows = 0
    private(set) var bytes = 0
    private(set) var isCancelled = false

    init(
      _ mapper: RecordMapper, _ queue: BatchQueue, _ options: MigrationOptions, batch: RowBatch,
      start: ReadPosition
    ) {
      source = mapper.source
      keyPositions = mapper.source.keyPositions
      self.mapper = mapper.isIdentity ? nil : mapper
      target = RowBuffer(count: mapper.destination.fields.count)
      self.queue = queue
      self.options = options
      self.batch = batch
      position = start.offset
      known = start.failures
      key = RowBuffer(count: mapper.source.keyPositions.count)
      lastKey = start.key
      failuresBehind = start.failures
      digester = options.verification.computesDigests ? RecordDigester(mapper.destination) : nil
      batch.firstPosition = position
    }

    /// Adds a record that is unreadable or has no counterpart.
    mutating func add(_ error: PersistenceError, record: String? = nil) throws {
      defer { position += 1 }
      if known > 0 {
        known -= 1
        batch.firstPosition = position + 1
        return
      }
      try flushIfFull()
      let failure = RowBatch.Failure(index: batch.count, position: position, error: error, record: record)
      batch.append(failure)
      failuresBehind += 1
      transactionRows += 1
      transactionBytes += failure.size
    }

    /// Maps a source record and adds it.
    mutating func add(_ row: borrowing Row) throws {
      guard mapper != nil else { return try add(row, keyOf: row) }
      do {
        try mapper?.map(row, into: target)
      } catch let error as PersistenceError where options.failures == .reject && error.concernsOneRecord {
        try add(error, record: MigrationReject.text(of: row, source))
        seen += 1
        return
      }
      // A local copy of the reference, since the closure mutates `self`.
      let target = target
      try target.withRow { try add($0, keyOf: row) }
    }

    private mutating func add(_ row: borrowing Row, keyOf source: borrowing Row) throws {
      known = 0
      try flushIfFull()
      key.reset()
      for (index, position) in keyPositions.enumerated() { key.setCopy(of: source[position], at: index) }
      failuresBehind = 0
      let size = row.approximateSize
      if size > SourceReader.borrowLimit {
        if !batch.isEmpty { try flush() }
        batch.appendBorrowed(row, size: size)
        count(size)
        if isTransactionFull { try endTransaction() }
        queue.pushAndWait(batch)
        return try takeNext()
      }
      batch.append(row, size: size)
      count(size)
    }

    mutating func finish() throws {
      try endTransaction()
      batch.endsModel = true
      push()
    }

    private var isTransactionFull: Bool {
      transactionRows >= options.batchSize || transactionBytes >= options.batchBytes
    }

    private mutating func count(_ size: Int) {
      position += 1
      rows += 1
      seen += 1
      bytes += size
      transactionRows += 1
      transactionBytes += size
    }

    private mutating func flushIfFull() throws {
      guard isTransactionFull || batch.isFull else { return }
      if isTransactionFull { try endTransaction() }
      try flush()
    }

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

    /// Passes the batch on.
    ///
    /// The thread that is ahead of the other computes the digest.
    private mutating func push() {
      if let digester, queue.isReaderAhead { _ = batch.digest(by: digester) }
      queue.push(batch)
    }

    private mutating func takeNext() throws {
      guard let next = queue.takeEmpty() else {
        isCancelled = true
        throw CancellationError()
      }
      batch = next
      batch.firstPosition = position
    }
  }
}

/// The number of rows per page: keeps pages small for tiny rows and for rows of many megabytes.
struct PageSize {
  private static let rowLimit = 256
  private static let byteLimit = 4 << 20

  private(set) var rows = 16
  private var seenRows = 0
  private var seenBytes = 0

  mutating func note(rows: Int, bytes: Int) {
    seenRows += rows
    seenBytes += bytes
    guard seenRows > 0 else { return }
    let average = max(1, seenBytes / seenRows)
    self.rows = min(Self.rowLimit, max(1, Self.byteLimit / average))
  }
}

extension PersistenceError {
  /// Whether the error concerns one record, so that other records can still be read or written.
  var concernsOneRecord: Bool {
    switch code {
    case .damaged, .uniqueViolation, .valueTooLarge, .invalidRequest, .encodingFailed, .duplicateKey,
      .unsupported:
      true
    default: false
    }
  }
}
