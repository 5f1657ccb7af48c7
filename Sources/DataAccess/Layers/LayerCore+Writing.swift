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
    _ changes: [ObjectChange<Object>], mayRepeat: Bool,
    _ body: @escaping @Sendable (AnyDataSource<Object>) async throws(PersistenceError) -> Value,
    settled: (Value) -> [ObjectChange<Object>]?
  ) async throws(PersistenceError) -> Value {
    if Task.isCancelled { throw .cancelled() }
    let keys = changes.map(\.object.recordKey)
    let store = topStore
    let call = { @Sendable () async throws(PersistenceError) in try await body(store) }
    let attempts = attempts(top)
    return try await gates.enter(keys) { () async throws(PersistenceError) in
      if below.isEmpty { return try await attempts.run(mayRetry: { mayRepeat || !$0.leavesDoubt }, call) }
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
      // The store that decides may have given another key than was sent.
      let written = changes.map(\.object.recordKey)
      writes.begin(written)
      defer { writes.end(written) }
      let unused = Array(Set(keys).subtracting(written))
      let failures = await finishing { [self] in
        let failures = await settle(changes, keys + written)
        if !unused.isEmpty { for (_, holder) in below { await holder.withdraw(unused) } }
        return failures
      }
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
    _ changes: [ObjectChange<Object>], _ keys: [RecordKey]
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
}
