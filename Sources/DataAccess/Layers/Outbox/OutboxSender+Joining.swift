import PersistenceCore

/// How many entries join in one batch.
///
/// It halves after each rejection, so that an entry which the remote layer rejects is soon sent alone, and doubles after
/// each success.
struct JoiningLimit {
  private var limit = Int.max
  private var isHeld = false

  /// The limits of the next batch; nil for one entry.
  func limits(of remote: BatchLimits?) -> BatchLimits? {
    guard let remote, limit > 1 else { return nil }
    return BatchLimits(changes: min(remote.changes, limit), bytes: remote.bytes)
  }

  mutating func succeed() {
    if !isHeld, limit < Int.max / 2 { limit *= 2 }
    isHeld = false
  }

  /// Records that a batch of some entries was rejected.
  mutating func fail(_ count: Int) { limit = max(1, min(limit, count) / 2) }

  /// Ignores the next success, of an entry that was changed after a rejection.
  mutating func hold() { isHeld = true }
}

extension OutboxSender {
  /// The limits of the next joint batch; nil if an entry is sent alone.
  var limits: BatchLimits? { joining.limits(of: remote.batchLimits) }

  /// Separates the entries of a joint batch that failed, so that the next batch is smaller.
  ///
  /// The entry at fault is then sent alone. An error that may pass says nothing of the entries, until it has occurred
  /// several times or another batch has passed.
  func settle(
    _ batch: OutboxBatch<Object>, after error: PersistenceError, isFirst: Bool
  ) async throws(PersistenceError) {
    guard let first = batch.entries.first else { return }
    if error.code == .cancelled { throw error }
    if error.mayPass, isFirst {
      let current = try await record(error, of: first.record)
      let failures = isAttempt ? current?.failures ?? 0 : 0
      guard hasSent || failures >= Self.failuresBeforeOvertaking else { throw error }
    }
    try await revoke(batch)
    if !isFirst { throw error }
  }

  /// Makes sure that the remote layer never applies a joint batch, and separates its entries; removes them if it has
  /// applied the batch.
  ///
  /// An empty batch takes the id. The remote layer ignores the joint batch after it, and rejects the empty one after the
  /// joint batch.
  func revoke(_ batch: OutboxBatch<Object>) async throws(PersistenceError) {
    guard let first = batch.entries.first else { return }
    if !batch.isRevoked {
      // After a kill from here on, an empty batch may have the id, and the answer to the joint one means nothing.
      try await layer.use { try $0.revokeJoint(of: first.record) }
    }
    do {
      _ = try await apply([], id: batch.id)
    } catch  where error.code == .batchReused {
      return try await remove(batch.revoked, isStale: true)
    } catch  where batch.isReplaced && remote.batchLimits == nil && !error.mayPass && error.code != .cancelled
    {
      // A remote layer without limits need not accept an empty batch; the earlier changes may still arrive then.
    } catch {
      let current = try await record(error, of: first.record)
      guard let current, isAttempt, !error.mayPass, current.attempts >= options.outbox.attempts else {
        throw error
      }
      // Nothing tells whether the remote layer has the batch.
      for entry in batch.entries { try await setAside(entry.record, entry.allKeys, error) }
      return
    }
    if !batch.isReplaced { joining.fail(batch.readableChanges.count) }
    try await layer.use { try $0.separateJoint(of: first.record) }
  }
}
