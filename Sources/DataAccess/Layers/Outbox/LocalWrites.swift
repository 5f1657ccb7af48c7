import Foundation
import PersistenceCore
import PersistenceDriver

/// Writes that begin in the local store, which keeps them for the remote one, and are then made in the layers beside it.
final class LocalWrites<Object: PersistentRecord>: Sendable {
  let layer: JournaledLayer<Object>
  let sender: OutboxSender<Object>
  /// The layers beside the local one.
  private let others: [(layer: DataSourceLayer, holder: any ReplicaLayer<Object>)]
  private let options: LayerOptions<Object>
  private let log: WriteLog
  private let gates: KeyGates

  init(
    _ layer: JournaledLayer<Object>, others: [(layer: DataSourceLayer, holder: any ReplicaLayer<Object>)],
    remote: AnyDataSource<Object>, options: LayerOptions<Object>, log: WriteLog, gates: KeyGates
  ) {
    (self.layer, self.others, self.options) = (layer, others, options)
    (self.log, self.gates) = (log, gates)
    sender = OutboxSender(layer: layer, remote: remote, options: options) { keys in
      // An entry may be refused while the write that made it is still being made beside the local store, which would
      // end a doubt that came before.
      await gates.enter(keys) {
        for (_, holder) in others { await holder.doubt(keys) }
      }
    }
  }

  /// Makes a write.
  ///
  /// - Parameters:
  ///   - changes: What is written.
  ///   - id: What it is sent as.
  ///   - once: Whether it may have been made before, by this id.
  ///   - entry: The entry that was set aside and in whose place it comes.
  /// - Returns: For each change, what was stored of its key before; nil where the batch had been written before.
  /// - Throws: The local store's error; `incompleteWrite` where a layer beside it failed.
  func write(
    _ changes: [ObjectChange<Object>], id: UUID = UUID(), once: Bool = false,
    replacing entry: OutboxEntry<Object>? = nil
  ) async throws(PersistenceError) -> [Object?]? {
    if Task.isCancelled { throw .cancelled() }
    let keys = changes.map(\.object.recordKey)
    return try await gates.enter(keys) { () async throws(PersistenceError) in
      log.begin(keys)
      defer { log.end(keys) }
      let (layer, sender, log, date) = (layer, sender, log, options.now())
      let attempts = Attempts(layer: .local, limits: options.local, clock: options.clock)
      let before: [Object?]?
      do throws(PersistenceError) {
        before = try await attempts.run(mayRetry: { !$0.leavesDoubt }) { () async throws(PersistenceError) in
          // Where the time is over, this goes on, and what it commits is younger than any answer until then.
          log.begin(keys)
          defer { log.end(keys) }
          let before = try await layer.write(changes, id: id, once: once, replacing: entry, at: date)
          await sender.kick()
          return before
        }
      } catch {
        if error.leavesDoubt {
          await finishing { [others] in
            for (_, holder) in others { await holder.doubt(keys) }
            // It may have been committed before the error came.
            await sender.kick()
          }
        }
        throw error
      }
      // A batch that had been applied before changed nothing: what the other layers hold is right.
      guard let before else { return nil }
      let failures = await finishing { [others] in
        var failures: [LayerFailure] = []
        for (layer, holder) in others {
          do throws(PersistenceError) {
            try await holder.settle(changes.map(\.settled), asOf: date)
          } catch {
            await holder.doubt(keys)
            failures.append(LayerFailure(layer, error))
          }
        }
        return failures
      }
      guard failures.isEmpty else { throw .incompleteWrite(failures, doneIn: .local) }
      return before
    }
  }
}

/// Runs what has to be finished, whether or not the task that asked for it is cancelled.
func finishing<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
  await Task { await body() }.value
}
