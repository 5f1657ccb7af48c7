import Foundation
import PersistenceDriver

/// Hands batches from the thread that reads to the one that writes, and empty ones back; each waits for the other
/// where it is ahead.
final class BatchQueue: @unchecked Sendable {  // its state is guarded by the condition
  /// How many batches there are: so many may be on their way, and no more memory is taken.
  private static let batchLimit = 6
  /// Who has to wait goes on when there are so many, so that the threads change over less often.
  private static let wakeCount = batchLimit / 2

  private let condition = NSCondition()
  private let fieldCount: Int
  private var filled: [RowBatch] = []
  private var empty: [RowBatch] = []
  private var made = 0
  /// How many batches the writer has taken and not given back.
  private var taken = 0
  private var failure: (any Error)?
  /// Whether the writer need not wait for more than one batch: the reader waits for it, or has come to the end.
  private var isUrgent = false
  private var isCancelled = false

  init(fieldCount: Int) { self.fieldCount = fieldCount }

  /// An empty batch, for the reader; nil where the writer has given up.
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
      // All batches are filled, empty, or with the writer: one of the two always has enough to go on with.
      while !isCancelled, empty.count < Self.wakeCount { condition.wait() }
    }
  }

  /// Whether the writer has enough to go on with, so that the reader has the time for what either of them can do.
  var isReaderAhead: Bool {
    condition.lock()
    defer { condition.unlock() }
    return filled.count + taken >= Self.wakeCount
  }

  /// Gives a filled batch to the writer.
  func push(_ batch: RowBatch) {
    condition.lock()
    defer { condition.unlock() }
    filled.append(batch)
    isUrgent = isUrgent || batch.endsModel
    if isUrgent || filled.count >= Self.wakeCount { condition.broadcast() }
  }

  /// Gives the writer a batch of rows whose memory is lent, and waits until it has written them and all before them.
  func pushAndWait(_ batch: RowBatch) {
    condition.lock()
    defer { condition.unlock() }
    filled.append(batch)
    isUrgent = true
    defer { isUrgent = false }
    condition.broadcast()
    while !isCancelled, !filled.isEmpty || taken > 0 { condition.wait() }
    // A writer that has given up does not look at rows any more: it has left its transaction.
    if isCancelled { filled.removeAll() }
  }

  /// Ends the reading with an error, which the writer meets behind what was read before.
  func fail(_ error: any Error) {
    condition.lock()
    defer { condition.unlock() }
    failure = failure ?? error
    condition.broadcast()
  }

  /// The next batch, for the writer.
  ///
  /// - Throws: What the reading failed with.
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

  /// Gives a batch back, whose rows have been written.
  func giveBack(_ batch: RowBatch) {
    batch.reset()
    condition.lock()
    defer { condition.unlock() }
    taken -= 1
    empty.append(batch)
    if empty.count >= Self.wakeCount || filled.isEmpty { condition.broadcast() }
  }

  /// Ends the work on behalf of the writer, which does not look at any row from then on.
  func cancel() {
    condition.lock()
    defer { condition.unlock() }
    isCancelled = true
    condition.broadcast()
  }
}
