import Foundation
import PersistenceCore
import PersistenceDriver
import Synchronization

/// Writes to the local layer and its outbox, and then to the layers beside it.
final class LocalFirstWriter<Object: PersistentRecord>: Sendable {
  let layer: JournaledLayer<Object>
  let sender: OutboxSender<Object>
  /// The layers beside the local one.
  private let others: [(layer: DataSourceLayer, replica: any ReplicaLayer<Object>)]
  private let options: LayerOptions<Object>
  private let log: WriteLog
  private let mutexes: KeyedMutex
  private let dates: SteadyDate

  init(
    _ layer: JournaledLayer<Object>, others: [(layer: DataSourceLayer, replica: any ReplicaLayer<Object>)],
    remote: AnyDataSource<Object>, options: LayerOptions<Object>, log: WriteLog, mutexes: KeyedMutex,
    dates: SteadyDate, breaker: CircuitBreaker
  ) {
    (self.layer, self.others, self.options) = (layer, others, options)
    (self.log, self.mutexes, self.dates) = (log, mutexes, dates)
    sender = OutboxSender(
      layer: layer, remote: remote, options: options, breaker: breaker, log: log, dates: dates
    ) { keys in
      // The server may reject an entry while its write still updates these layers, which would clear the stale
      // keys.
      await mutexes.withLock(keys) {
        for (_, replica) in others { await replica.markStale(keys) }
      }
    }
  }

  /// Makes a write, which can replace an outbox entry.
  ///
  /// - Returns: The previous object for each change; nil if `once` is set and the batch had been applied before.
  /// - Throws: The error of the local layer; `incompleteWrite` if a layer beside it failed.
  func write(
    _ changes: [ObjectChange<Object>], id: UUID = UUID(), once: Bool = false,
    replacing entry: OutboxEntry<Object>? = nil
  ) async throws(PersistenceError) -> [Object?]? {
    if Task.isCancelled { throw .cancelled() }
    let keys = changes.map(\.object.recordKey)
    return try await mutexes.withLockUnlessCancelled(keys) { () async throws(PersistenceError) in
      let (layer, sender, log, date) = (layer, sender, log, dates.now())
      let created = options.now()
      var stored: [DataSourceLayer] = []
      log.begin(keys, at: date)
      defer { log.end(keys, storedIn: stored) }
      let abandoned = AbandonedWrite()
      let attempts = Attempts(layer: .local, limits: options.local, clock: options.clock)
      let before: [Object?]?
      do throws(PersistenceError) {
        before = try await attempts.run(mayRetry: { !$0.hasUnknownOutcome }) {
          [others] () async throws(PersistenceError) in
          // After a timeout this continues, and its commit is newer than any answer until then.
          var stored: [DataSourceLayer] = []
          log.begin(keys, at: date)
          defer { log.end(keys, storedIn: stored) }
          let before = try await layer.write(
            changes, id: id, once: once, replacing: entry, at: created, asOf: date)
          if before != nil { stored = [.local] }
          if abandoned.isAbandoned { for (_, replica) in others { await replica.markStale(keys) } }
          await sender.wake()
          return before
        }
      } catch {
        if error.hasUnknownOutcome {
          abandoned.isAbandoned = true
          await shieldedFromCancellation { [others] in
            for (_, replica) in others { await replica.markStale(keys) }
            // The commit may have preceded the error.
            await sender.wake()
          }
        }
        throw error
      }
      // The batch had been applied before, so the other layers are current.
      guard let before else { return nil }
      let failures = await shieldedFromCancellation { [others] in
        var failures: [LayerFailure] = []
        for (layer, replica) in others {
          do throws(PersistenceError) {
            try await replica.commit(changes.map(\.unconditional), announcedAs: keys, asOf: date)
          } catch {
            await replica.markStale(keys)
            failures.append(LayerFailure(layer, error))
          }
        }
        return failures
      }
      stored = [.local] + others.map(\.layer).filter { layer in !failures.contains { $0.layer == layer } }
      guard failures.isEmpty else { throw .incompleteWrite(failures, doneIn: .local) }
      return before
    }
  }
}

extension LocalFirstWriter {
  /// Changes an entry in one transaction.
  ///
  /// The objects of a waiting entry become stale, since their local state is not what the outbox sends.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - changes: The changes that replace those of the entry; their objects stay current in the local layer.
  ///   - body: Changes the record of the entry.
  /// - Throws: `notFound` if the entry is gone or replaced.
  func change(
    _ entry: OutboxEntry<Object>, to changes: [ObjectChange<Object>] = [],
    _ body: @escaping @Sendable (Journal<Object>, OutboxRecord) throws -> Void
  ) async throws(PersistenceError) {
    let layer = layer
    let (old, new) = (entry.keys, changes.map(\.object.recordKey))
    let isWaiting = try await layer.use { journal in
      guard let record = try journal.record(entry) else { throw journal.isGone(entry) }
      let parts = try journal.waitingParts(of: record)
      try body(journal, record)
      if record.isSetAside { return false }
      try layer.markStale(Array(Set(old).subtracting(new)), in: journal)
      try journal.markStale(parts: parts)
      for key in new { try journal.clearStale(key) }
      return true
    }
    if isWaiting { await sender.markStale(Array(Set(old + new))) }
  }
}

extension Journal {
  /// The error for an entry that was sent, replaced or discarded meanwhile.
  func isGone(_ entry: OutboxEntry<Object>) -> PersistenceError {
    PersistenceError(
      .notFound, "the outbox no longer has the entry \(entry.id) in this state; list the entries again",
      model: model)
  }
}

/// Whether the caller of a local write has stopped waiting for it.
private final class AbandonedWrite: Sendable {
  private let state = Mutex(false)

  var isAbandoned: Bool {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}

/// Runs a closure to its end, even if the calling task is cancelled.
func shieldedFromCancellation<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
  await Task { await body() }.value
}
