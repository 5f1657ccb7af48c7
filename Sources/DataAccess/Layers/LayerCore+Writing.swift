import Foundation
import PersistenceCore
import PersistenceDriver

extension LayerCore {
  /// Writes to the top layer, and then to the replicas.
  ///
  /// An idempotent write may repeat an attempt with unknown outcome. `replicated` derives the changes for the
  /// replicas from the result of the top layer; nil if they are unknown.
  ///
  /// - Throws: The error of the top layer, see ``makeInTop(mayRepeat:_:)``; `incompleteWrite` if a replica failed.
  func write<Value: Sendable>(
    _ changes: [ObjectChange<Object>], mayRepeat: Bool,
    _ body: @escaping @Sendable (AnyDataSource<Object>) async throws(PersistenceError) -> Value,
    replicating replicated: (Value) -> [ObjectChange<Object>]?
  ) async throws(PersistenceError) -> Value {
    if Task.isCancelled { throw .cancelled() }
    let keys = changes.map(\.object.recordKey)
    let source = topSource
    let call = { @Sendable [breaker] () async throws(PersistenceError) in
      let value = try await body(source)
      breaker.close()
      return value
    }
    return try await mutexes.withLockUnlessCancelled(keys) { () async throws(PersistenceError) in
      if replicas.isEmpty {
        return try await makeInTop(mayRepeat: mayRepeat, call)
      }
      let start = dates.now()
      writes.begin(keys, at: start)
      defer { writes.end(keys, storedIn: []) }
      await prepare(keys)
      if Task.isCancelled {
        await shieldedFromCancellation { [self] in for (_, replica) in replicas { await replica.abort(keys) }
        }
        throw .cancelled()
      }
      // The upper layer can make the write at any moment from now on.
      let date = dates.now()
      let value: Value
      do throws(PersistenceError) {
        value = try await makeInTop(mayRepeat: mayRepeat, call)
      } catch {
        // The outcome is unknown, or the conflict shows that the replicas are stale.
        let isStale = error.hasUnknownOutcome || error.isConflict
        await shieldedFromCancellation { [self] in
          for (_, replica) in replicas {
            if isStale { await replica.markStale(keys) } else { await replica.abort(keys) }
          }
        }
        throw error
      }
      guard let changes = replicated(value) else {
        await shieldedFromCancellation { [self] in
          for (_, replica) in replicas { await replica.markStale(keys) }
        }
        return value
      }
      // The top layer may have assigned another key.
      let written = changes.map(\.object.recordKey)
      writes.begin(written, at: start)
      var missed = Set(DataSourceLayer.allCases)
      defer { writes.end(written, storedIn: replicas.map(\.layer).filter { !missed.contains($0) }) }
      let unused = Array(Set(keys).subtracting(written))
      let failures = await shieldedFromCancellation { [self] in
        let failures = await commit(changes, announcedAs: keys, asOf: date)
        if !unused.isEmpty { for (_, replica) in replicas { await replica.abort(unused) } }
        return failures
      }
      missed = Set(failures.map(\.layer))
      guard failures.isEmpty else { throw .incompleteWrite(failures, doneIn: top) }
      return value
    }
  }

  /// Makes a write in the top layer.
  ///
  /// - Throws: The error of the last attempt. If that is a rejection, the first error with unknown outcome instead: the
  ///   rejection says nothing of the earlier attempt, which may have been applied.
  private func makeInTop<Value: Sendable>(
    mayRepeat: Bool, _ call: @escaping @Sendable () async throws(PersistenceError) -> Value
  ) async throws(PersistenceError) -> Value {
    var unknown: PersistenceError?
    do throws(PersistenceError) {
      return try await attempts(top).run(
        mayRetry: { error in
          guard error.hasUnknownOutcome else { return true }
          unknown = unknown ?? error
          return mayRepeat
        }, call)
    } catch {
      guard let unknown, !error.hasUnknownOutcome else { throw error }
      throw unknown
    }
  }

  /// Announces a write to the replicas.
  ///
  /// A replica that fails here will probably fail to commit, and then marks the keys as stale.
  private func prepare(_ keys: [RecordKey]) async {
    for (layer, replica) in replicas {
      do throws(PersistenceError) {
        try await attempts(layer).run { () async throws(PersistenceError) in try await replica.prepare(keys) }
      } catch {
        await replica.markStale(keys)
      }
    }
  }

  /// Writes to the replicas.
  ///
  /// A failure makes the keys stale.
  private func commit(
    _ changes: [ObjectChange<Object>], announcedAs keys: [RecordKey], asOf date: Date
  ) async -> [LayerFailure] {
    var failures: [LayerFailure] = []
    for (layer, replica) in replicas {
      do throws(PersistenceError) {
        try await attempts(layer).run { () async throws(PersistenceError) in
          try await replica.commit(changes, announcedAs: keys, asOf: date)
        }
      } catch {
        await replica.markStale(keys + changes.map(\.object.recordKey))
        failures.append(LayerFailure(layer, error))
      }
    }
    return failures
  }
}
