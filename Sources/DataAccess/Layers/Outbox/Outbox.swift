import Foundation
public import PersistenceCore
import PersistenceDriver

/// The writes of a ``LayeredDataSource`` that the remote store does not have yet, or refused.
///
/// They are kept in the local store, are written in the transactions of the objects that they are about, and go with it
/// through restarts.
public struct Outbox<Object: PersistentRecord>: Sendable {
  let writes: LocalWrites<Object>

  private var layer: JournaledLayer<Object> { writes.layer }
  var sender: OutboxSender<Object> { writes.sender }

  /// How many entries wait to be sent.
  public func count() async throws(PersistenceError) -> Int {
    try await layer.use(writes: false) { try $0.countEntries(isSetAside: false) }
  }

  /// The entries that wait, in the order in which they are sent.
  public func waiting() async throws(PersistenceError) -> [OutboxEntry<Object>] {
    try await layer.use(writes: false) { try $0.entries(isSetAside: false).map(OutboxEntry.init) }
  }

  /// The entries that the remote store refused for good, with its errors; they stay until they are resent or discarded.
  public func setAside() async throws(PersistenceError) -> [OutboxEntry<Object>] {
    try await layer.use(writes: false) { try $0.entries(isSetAside: true).map(OutboxEntry.init) }
  }

  /// Sends what waits, now rather than at the next attempt.
  ///
  /// An attempt that is under way is waited for; where it fails, another is made, since what it met may be over.
  ///
  /// - Throws: ``PersistenceError``: what the first entry met that could not be sent. It and those after it go on waiting.
  public func send() async throws(PersistenceError) { try await sender.sendAll(on: .call) }

  /// Puts an entry that was set aside at the end of the queue, perhaps with other changes, and makes these here too.
  ///
  /// It is sent at once where the store that the outbox is of still exists, and otherwise by the next one.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - changes: What is to be written instead; nil for what it holds.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notFound`` where it is not set aside any more, and
  ///   ``PersistenceError/Code/schemaMismatch`` where it cannot be read and there are no other changes; an error
  ///   of the local store, or ``PersistenceError/Code/incompleteWrite`` where the cache failed.
  public func resend(_ entry: OutboxEntry<Object>, as changes: [ObjectChange<Object>]? = nil)
    async throws(PersistenceError)
  {
    guard let changes = changes ?? entry.changes else {
      throw PersistenceError(
        .schemaMismatch,
        "the entry \(entry.id) is of another declaration of its model; resend it as other changes",
        model: try caught { try Object.schema.model.name })
    }
    _ = try await writes.write(changes, replacing: entry)
  }

  /// Gives up an entry that was set aside: its objects stay in doubt here until they are refreshed.
  ///
  /// - Parameter entry: The entry.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notFound`` where it is not set aside any more.
  public func discard(_ entry: OutboxEntry<Object>) async throws(PersistenceError) {
    try await layer.use { try $0.remove(entry) }
  }
}
