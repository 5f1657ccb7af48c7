public import Foundation
public import PersistenceCore
import PersistenceDriver

/// A write that is done here, and not yet or not at all in the remote store.
public struct OutboxEntry<Object: PersistentRecord>: Sendable, Identifiable {
  /// The id of the batch that the write is sent as: the remote store makes it once, however often it is sent.
  public let id: UUID

  /// Its place: entries are sent in the order of their numbers.
  public let number: Int

  /// What is written; nil where the entry is of another declaration of the model and cannot be read any more.
  public let changes: [ObjectChange<Object>]?

  /// When it was written.
  public let created: Date

  /// How often it failed with an error that is not known to pass.
  public let attempts: Int

  /// Why it was set aside; nil where it waits.
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
    try LayerCoding.value([StoredChange].self, record.changes).map { try $0.change(of: Object.self) }
  }
}
