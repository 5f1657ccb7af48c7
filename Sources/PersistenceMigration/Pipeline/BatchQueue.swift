import Foundation
import PersistenceDriver
import PersistenceDriverSupport

/// A bounded queue: passes batches from the reading thread to the writing thread, and empty ones back.
final class BatchQueue: @unchecked Sendable {  // its state is guarded by the condition
  /// The number of batches, which bounds memory.
  private static let batchLimit = 6
  /// Waiters wake when this many batches are queued, which saves context switches.
  private static let wakeCount = batchLimit / 2

  private let condition = NSCondition()
  private let fieldCount: Int
  private var filled: [RowBatch] = []
  private var empty: [RowBatch] = []
  private var made = 0
  /// The number of batches that the writer holds.
  private var taken = 0
  private var failure: (any Error)?
  /// Whether one batch wakes the writer: the reader waits for it, or has reached the end.
  private var isUrgent = false
  private var isCancelled = false

  init(fieldCount: Int) { self.fieldCount = fieldCount }

  /// Returns an empty batch to the reader; nil after the writer cancelled.
  func takeEmpty() -> RowBatch? {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if isCancelled { return nil }
      if let batch = empty.popLast() { return batch }
      if made < Self.batchLimit {
        made += 1
        return RowBatch(fieldCount: fieldCount)
      }
      // Every batch is filled, empty or with the writer, so that one of the threads can always continue.
      while !isCancelled, empty.count < Self.wakeCount { condition.wait() }
    }
  }

  /// Whether the writer has enough batches, so that the reader should take over work that either can do.
  var isReaderAhead: Bool {
    condition.lock()
    defer { condition.unlock() }
    return filled.count + taken >= Self.wakeCount
  }

  /// Passes a filled batch to the writer.
  func push(_ batch: RowBatch) {
    condition.lock()
    defer { condition.unlock() }
    filled.append(batch)
    isUrgent = isUrgent || batch.endsModel
    if isUrgent || filled.count >= Self.wakeCount { condition.broadcast() }
  }

  /// Passes a batch of borrowed rows to the writer, and waits until the writer has recycled all batches.
  func pushAndWait(_ batch: RowBatch) {
    condition.lock()
    defer { condition.unlock() }
    filled.append(batch)
    isUrgent = true
    defer { isUrgent = false }
    condition.broadcast()
    while !isCancelled, !filled.isEmpty || taken > 0 { condition.wait() }
    // After cancellation the writer reads no more rows.
    if isCancelled { filled.removeAll() }
  }

  /// Ends the queue with an error, which the writer receives after the filled batches.
  func fail(_ error: any Error) {
    condition.lock()
    defer { condition.unlock() }
    failure = failure ?? error
    condition.broadcast()
  }

  /// Returns the next batch to the writer.
  ///
  /// - Throws: The reader's error.
  func pop() throws -> RowBatch {
    condition.lock()
    defer { condition.unlock() }
    if filled.isEmpty {
      while !isUrgent, failure == nil, filled.count < Self.wakeCount { condition.wait() }
      while filled.isEmpty {
        if let failure { throw failure }
        condition.wait()
      }
    }
    taken += 1
    return filled.removeFirst()
  }

  /// Passes each batch to a closure, until it returns false or the model ends.
  func forEach(_ body: (RowBatch) throws -> Bool) throws {
    var continues = true
    while continues {
      let batch = try pop()
      continues = try body(batch) && !batch.endsModel
      recycle(batch)
    }
  }

  /// Returns a written batch to the reader.
  func recycle(_ batch: RowBatch) {
    batch.reset()
    condition.lock()
    defer { condition.unlock() }
    taken -= 1
    empty.append(batch)
    if empty.count >= Self.wakeCount || filled.isEmpty { condition.broadcast() }
  }

  /// Ends the queue for the writer, which reads no rows afterwards.
  func cancel() {
    condition.lock()
    defer { condition.unlock() }
    isCancelled = true
    condition.broadcast()
  }
}

/// Rows that one thread passes to another; ``BatchQueue`` reuses the batch and its memory.
///
/// One thread uses it at a time.
final class RowBatch: @unchecked Sendable {  // handed from thread to thread by BatchQueue
  static let rowLimit = 512
  /// The approximate maximum size of the values in bytes; the row that exceeds it ends the batch.
  static let byteLimit = 1 << 20

  /// A record that is unreadable or has no counterpart in the destination.
  struct Failure {
    /// The number of preceding rows of the batch.
    var index: Int
    /// The number of preceding records of the model.
    var position: Int
    var error: PersistenceError
    /// The record as JSON; nil if unreadable.
    var record: String?

    /// The approximate size in memory.
    var size: Int { error.message.utf8.count + (record?.utf8.count ?? 0) }
  }

  @exclusivity(unchecked) private var rows: RowArena

  var count: Int { rows.count }
  /// The approximate size of the values in bytes.
  @exclusivity(unchecked) private(set) var bytes = 0
  private(set) var failures: [Failure] = []
  private var failureBytes = 0
  /// The number of records of the model before the first row, including unreadable ones.
  var firstPosition = 0
  /// The digest of the rows, if either thread has computed it.
  private var digest: ContentDigest?
  /// Whether the batch ends a transaction; then also the last key, and the number of unreadable records behind it.
  var endsTransaction = false
  var lastKey: RecordKey?
  var failuresBehind = 0
  var endsModel = false

  init(fieldCount: Int) {
    // The first chunk holds a batch of ordinary rows.
    rows = RowArena(width: fieldCount, chunkSize: 256 << 10)
  }

  var isEmpty: Bool { count == 0 && failures.isEmpty }
  var isFull: Bool {
    count >= Self.rowLimit || bytes + failureBytes >= Self.byteLimit || failures.count >= Self.rowLimit
  }

  /// The number of records of the model before a row of the batch.
  func position(of index: Int) -> Int {
    failures.isEmpty
      ? firstPosition + index : firstPosition + index + failures.prefix { $0.index <= index }.count
  }

  /// Removes all rows, and keeps memory for ordinary rows.
  func reset() {
    rows.removeAll()
    bytes = 0
    failures.removeAll(keepingCapacity: true)
    failureBytes = 0
    digest = nil
    (endsTransaction, endsModel, lastKey, failuresBehind) = (false, false, nil, 0)
  }

  /// Appends a failure, whose size counts towards that of the batch.
  func append(_ failure: Failure) {
    failures.append(failure)
    failureBytes += failure.size
  }

  /// Appends a copy of a row of a known ``PersistenceDriver/Row/approximateSize``.
  func append(_ row: borrowing Row, size: Int) {
    rows.append(row, byteCount: size)
    bytes += size
  }

  /// Appends a row without copying its bytes, which must stay valid until ``BatchQueue/pushAndWait(_:)`` returns.
  func appendBorrowed(_ row: borrowing Row, size: Int) {
    rows.appendBorrowed(row)
    bytes += size
  }

  /// The digest of the rows, computed on first use.
  func digest(by digester: RecordDigester) -> ContentDigest {
    if let digest { return digest }
    var sum = ContentDigest()
    for index in 0..<count { withRow(index) { sum.add(digester.digest(of: $0)) } }
    digest = sum
    return sum
  }

  func withRow<Result>(_ index: Int, _ body: (borrowing Row) throws -> Result) rethrows -> Result {
    try rows.withRow(index, width: rows.width, body)
  }
}
