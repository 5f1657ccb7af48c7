import Foundation
import PersistenceCore
import PersistenceDriver

extension LayerCore {
  /// Makes a write in the layer that decides, and then in those below.
  ///
  /// - Parameters:
  ///   - changes: What is written.
  ///   - mayRepeat: Whether an attempt whose outcome is not known may be followed by another: whether doing it twice is
  ///     doing it once.
  ///   - body: Makes the write in the layer that decides.
  ///   - settled: What is to be written below, given what that layer said; nil where that cannot be known from it.
  /// - Returns: What the layer that decides said.
  /// - Throws: Its error; `incompleteWrite` where a layer below failed.
  func write<Value: Sendable>(
    _ changes: [StoreChange<Object>], mayRepeat: Bool,
    _ body: @escaping @Sendable (AnyStore<Object>) async throws(PersistenceError) -> Value,
    settled: (Value) -> [StoreChange<Object>]?
  ) async throws(PersistenceError) -> Value {
    if Task.isCancelled { throw .cancelled() }
    let keys = changes.map(\.object.recordKey)
    let store = topStore
    let call = { @Sendable () async throws(PersistenceError) in try await body(store) }
    let attempts = attempts(top)
    if below.isEmpty { return try await attempts.run(mayRetry: { mayRepeat || !$0.leavesDoubt }, call) }
    return try await gates.enter(keys) { () async throws(PersistenceError) in
      writes.begin(keys)
      defer { writes.end(keys) }
      await intend(keys)
      if Task.isCancelled {
        await finishing { [self] in for (_, holder) in below { await holder.withdraw(keys) } }
        throw .cancelled()
      }
      let value: Value
      do throws(PersistenceError) {
        value = try await attempts.run(mayRetry: { mayRepeat || !$0.leavesDoubt }, call)
      } catch {
        // Where it is not known whether the write was done, or what is held below proved to be old.
        let isDoubtful = error.leavesDoubt || error.isConflict
        await finishing { [self] in
          for (_, holder) in below {
            if isDoubtful { await holder.doubt(keys) } else { await holder.withdraw(keys) }
          }
        }
        throw error
      }
      guard let changes = settled(value) else {
        await finishing { [self] in for (_, holder) in below { await holder.doubt(keys) } }
        return value
      }
      let failures = await finishing { [self] in await settle(changes, keys) }
      guard failures.isEmpty else { throw .incompleteWrite(failures, doneIn: top) }
      return value
    }
  }

  /// Tells the layers below of a write that is about to be made.
  ///
  /// One that cannot write that down will most likely fail to settle the write too, and then comes into doubt.
  private func intend(_ keys: [RecordKey]) async {
    for (layer, holder) in below {
      do throws(PersistenceError) {
        try await attempts(layer).run { () async throws(PersistenceError) in try await holder.intend(keys) }
      } catch {
        await holder.doubt(keys)
      }
    }
  }

  /// Writes below what was written above; what fails is in doubt.
  private func settle(
    _ changes: [StoreChange<Object>], _ keys: [RecordKey]
  ) async -> [LayerFailure] {
    var failures: [LayerFailure] = []
    let date = options.now()
    for (layer, holder) in below {
      do throws(PersistenceError) {
        try await attempts(layer).run { () async throws(PersistenceError) in
          try await holder.settle(changes, asOf: date)
        }
      } catch {
        await holder.doubt(keys)
        failures.append(LayerFailure(layer, error))
      }
    }
    return failures
  }

  /// Makes a write in the local store, which keeps it for the remote one, and then in the cache.
  ///
  /// - Returns: For each change, what was stored of its key before; nil where the batch had been written before.
  func writeLocally(
    _ changes: [StoreChange<Object>], id: UUID = UUID(), once: Bool = false, in outbox: Outbox<Object>
  ) async throws(PersistenceError) -> [Object?]? {
    if Task.isCancelled { throw .cancelled() }
    let keys = changes.map(\.object.recordKey)
    return try await gates.enter(keys) { () async throws(PersistenceError) in
      writes.begin(keys)
      defer { writes.end(keys) }
      let (layer, date) = (outbox.layer, options.now())
      let before = try await attempts(.local).run(mayRetry: { !$0.leavesDoubt }) {
        () async throws(PersistenceError) in
        try await layer.write(changes, id: id, once: once, at: date)
      }
      let failures = await finishing { [self] in
        var failures: [LayerFailure] = []
        // A batch that had been applied before changed nothing: what the cache holds is right.
        for (layer, holder) in below where layer != .local && before != nil {
          do throws(PersistenceError) {
            try await holder.settle(changes.map(\.settled), asOf: date)
          } catch {
            await holder.doubt(keys)
            failures.append(LayerFailure(layer, error))
          }
        }
        await outbox.sender.kick()
        return failures
      }
      guard failures.isEmpty else { throw .incompleteWrite(failures, doneIn: .local) }
      return before
    }
  }

  /// Runs what has to be finished, whether or not the task that asked for it is cancelled.
  private func finishing<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
    await Task { await body() }.value
  }
}
