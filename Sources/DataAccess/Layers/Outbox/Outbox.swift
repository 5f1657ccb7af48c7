public import PersistenceCore
import Foundation
import PersistenceDriver

/// The writes of a ``LayeredDataSource`` that the remote layer has not received yet, or has rejected.
///
/// The local store keeps them. It writes each entry in the transaction of its objects, so entries survive a
/// restart.
public struct Outbox<Object: PersistentRecord>: Sendable {
  let writes: LocalFirstWriter<Object>

  private var layer: JournaledLayer<Object> { writes.layer }
  var sender: OutboxSender<Object> { writes.sender }

  /// The number of waiting entries.
  public func count() async throws(PersistenceError) -> Int {
    try await layer.use(writes: false) { try $0.countEntries(isSetAside: false) }
  }

  /// The waiting entries, in the order of sending, with their attempts and last errors.
  public func waiting() async throws(PersistenceError) -> [OutboxEntry<Object>] {
    try await entries { try $0.waitingEntries() }
  }

  /// The entries that were set aside, with the reasons.
  ///
  /// They stay until you resend or discard them.
  public func setAside() async throws(PersistenceError) -> [OutboxEntry<Object>] {
    try await entries { try $0.entriesSetAside() }
  }

  private func entries(
    _ records: @escaping @Sendable (Journal<Object>) throws -> [OutboxRecord]
  ) async throws(PersistenceError) -> [OutboxEntry<Object>] {
    try await layer.use(writes: false) { journal in
      var reader = EntryReader(journal)
      return try records(journal).map { OutboxEntry(reader.entry($0)) }
    }
  }

  /// Sends the waiting entries now.
  ///
  /// The call waits for an attempt in flight. If that fails, it makes another one.
  ///
  /// - Throws: ``PersistenceError`` of the first entry that could not be sent. This entry and those after it
  ///   keep waiting.
  public func send() async throws(PersistenceError) { try await sender.sendAll(for: .explicit) }

  /// Appends an entry that was set aside to the queue again, optionally with other changes, and applies these
  /// locally.
  ///
  /// The layered data source sends it at once if it still exists; otherwise the next one does. If an earlier request with the
  /// entry has arrived, the same changes are not applied again; before other changes, the remote layer is asked to ignore
  /// that request.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - changes: The new changes; nil to keep those of the entry.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notFound`` if the entry is no longer set
  ///   aside, ``PersistenceError/Code/schemaMismatch`` if it cannot be read and `changes` is nil, or
  ///   ``PersistenceError/Code/incompleteWrite`` if the cache failed; and errors of the local store.
  public func resend(_ entry: OutboxEntry<Object>, as changes: [ObjectChange<Object>]? = nil)
    async throws(PersistenceError)
  {
    // Under the same id, the remote layer applies the same changes once.
    let id = changes == nil ? entry.id : UUID()
    guard let changes = changes ?? entry.changes else {
      throw PersistenceError(
        .schemaMismatch,
        "the entry \(entry.id) was written with another schema of its model; resend it with new changes",
        model: try mappingErrors { try Object.schema.model.name })
    }
    _ = try await writes.write(changes, id: id, replacing: entry)
  }

  /// Replaces the changes of a waiting entry, which keeps its place, and applies these locally.
  ///
  /// The entry gets a new id, and its attempts count from zero. If the earlier changes may have been sent, the remote
  /// layer is asked to ignore them before it gets the new ones; it may have applied them already. Locally, the new changes
  /// apply without their conditions, except to objects that a later entry changes.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - changes: The new changes, at least one.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notFound`` if the entry no longer waits,
  ///   ``PersistenceError/Code/invalidRequest`` if there are no changes; and errors of the local store.
  public func replace(_ entry: OutboxEntry<Object>, with changes: [ObjectChange<Object>])
    async throws(PersistenceError)
  {
    guard !changes.isEmpty else {
      throw PersistenceError.invalidRequest("an outbox entry needs a change; discard the entry instead")
    }
    try await writes.change(entry, to: changes) { journal, record in
      guard try journal.replace(record, with: changes) else { throw journal.isGone(entry) }
      for change in changes where try !journal.isWaiting(change.object.recordKey, after: record.number) {
        try journal.repository.apply(change.unconditional)
      }
    }
    await sender.wake()
  }

  /// Sets a waiting entry aside, so that later ones no longer wait for it.
  ///
  /// Its local objects are stale until they are refreshed. ``resend(_:as:)`` appends it to the queue again.
  ///
  /// - Parameter entry: The entry.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notFound`` if the entry no longer waits; and
  ///   errors of the local store.
  public func setAside(_ entry: OutboxEntry<Object>) async throws(PersistenceError) {
    try await writes.change(entry) { journal, record in
      let reason =
        record.error ?? PersistenceError(.cancelled, "the app set the entry aside", model: journal.model)
      guard try journal.setAside(record, reason) else { throw journal.isGone(entry) }
    }
    await sender.wake()
  }

  /// Discards an entry, which waits or was set aside.
  ///
  /// Its local objects are stale until they are refreshed. If a waiting entry is being sent, its changes may still
  /// arrive.
  ///
  /// - Parameter entry: The entry.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notFound`` if the entry is gone; and errors of the
  ///   local store.
  public func discard(_ entry: OutboxEntry<Object>) async throws(PersistenceError) {
    try await writes.change(entry) { journal, record in try journal.delete(record) }
  }
}
