public import Foundation
public import PersistenceCore
import PersistenceDriver

/// A local write that the remote layer has not received yet, or has rejected.
public struct OutboxEntry<Object: PersistentRecord>: Sendable, Identifiable {
  /// The id of the entry: the remote layer applies the entry once, under this id or that of a batch which joins it with
  /// others.
  public let id: UUID

  /// The position in the queue: entries are sent in the order of their numbers.
  public let number: Int

  /// The changes, as the present declaration of the model reads them; nil if it cannot.
  ///
  /// Fields that the declaration has no more are left out.
  public let changes: [ObjectChange<Object>]?

  /// The date of the write.
  public let created: Date

  /// The number of failed attempts, without those that reads made.
  public let attempts: Int

  /// The error of the last attempt, or the reason for setting the entry aside; nil if no attempt has failed.
  public let error: PersistenceError?

  /// Whether the entry was set aside: it is sent again only if you resend it.
  public let isSetAside: Bool

  /// The keys of the objects, also if `changes` is nil.
  let keys: [RecordKey]

  init(_ entry: WaitingEntry<Object>) {
    let record = entry.record
    keys = entry.allKeys
    id = record.batch
    number = record.number
    changes = try? entry.changes.get()
    created = record.created
    attempts = max(record.attempts, record.failures ?? 0)
    error = record.error
    isSetAside = record.isSetAside
  }
}
