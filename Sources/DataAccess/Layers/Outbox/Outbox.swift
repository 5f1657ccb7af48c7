public import Foundation
public import PersistenceCore
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

  /// The waiting entries, in the order of sending.
  public func waiting() async throws(PersistenceError) -> [OutboxEntry<Object>] {
    try await layer.use(writes: false) { try $0.entries(isSetAside: false).map(OutboxEntry.init) }
  }

  /// The entries that the remote layer rejected, with its errors.
  ///
  /// They stay until you resend or discard them.
  public func setAside() async throws(PersistenceError) -> [OutboxEntry<Object>] {
    try await layer.use(writes: false) { try $0.entries(isSetAside: true).map(OutboxEntry.init) }
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
  /// The layered data source sends it at once if it still exists; otherwise the next one does.
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
    guard let changes = changes ?? entry.changes else {
      throw PersistenceError(
        .schemaMismatch,
        "the entry \(entry.id) was written with another schema of its model; resend it with new changes",
        model: try mappingErrors { try Object.schema.model.name })
    }
    _ = try await writes.write(changes, replacing: entry)
  }

  /// Discards an entry that was set aside.
  ///
  /// Its local objects stay stale until they are refreshed.
  ///
  /// - Parameter entry: The entry.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/notFound`` if the entry is no longer set
  ///   aside.
  public func discard(_ entry: OutboxEntry<Object>) async throws(PersistenceError) {
    try await layer.use { try $0.remove(entry) }
  }
}

/// A local write that the remote layer has not received yet, or has rejected.
public struct OutboxEntry<Object: PersistentRecord>: Sendable, Identifiable {
  /// The idempotency key of the batch: the remote layer applies it once.
  public let id: UUID

  /// The position in the queue: entries are sent in the order of their numbers.
  public let number: Int

  /// The changes; nil if the schema of the model has changed and the entry can no longer be read.
  public let changes: [ObjectChange<Object>]?

  /// The date of the write.
  public let created: Date

  /// The number of failures with an error that is not retryable.
  public let attempts: Int

  /// The reason for setting the entry aside; nil if it waits.
  public let error: PersistenceError?

  init(_ record: OutboxRecord) {
    id = record.batch
    number = record.number
    changes = try? Self.changes(of: record)
    created = record.created
    attempts = record.attempts
    error =
      record.isSetAside
      ? PersistenceError(
        PersistenceError.Code(rawValue: record.errorCode ?? PersistenceError.Code.engineFailure.rawValue),
        record.errorMessage ?? "refused", model: record.model) : nil
  }

  static func changes(of record: OutboxRecord) throws -> [ObjectChange<Object>] {
    try LayerCoding.value([OutboxChange].self, record.changes).map { try $0.change(of: Object.self) }
  }
}
