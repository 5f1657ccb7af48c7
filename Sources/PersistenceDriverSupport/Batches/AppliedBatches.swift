public import Foundation
import PersistenceDriver

/// The batches that a store has applied lately, by their ids, so that one that is sent again is not applied again.
///
/// Whoever sends a batch over a line that may break cannot know whether it arrived, and sends it again. The ids are
/// kept in the store itself, in a model of a reserved name, and each is written in the transaction of its batch: a
/// batch that was undone, by an error or by the kill of the process, leaves none.
///
/// ```swift
/// try context.transaction { transaction in
///   guard try AppliedBatches().record(batch.id, in: transaction) else { return }
///   for row in batch.rows { … }
/// }
/// ```
///
/// An id stands for one batch: another batch under the same id is taken for the first. A copy of the store made by a
/// migration holds none of the ids.
public struct AppliedBatches: Sendable {
  /// How long ids are kept; what is older, or further back, is forgotten as others are recorded.
  public struct Retention: Sendable, Hashable {
    /// How long an id is kept at most.
    public var age: Duration
    /// How many ids are kept at most.
    public var count: Int

    /// States how long ids are kept.
    public init(age: Duration = .seconds(30 * 86_400), count: Int = 1_000_000) {
      self.age = age
      self.count = max(1, count)
    }
  }

  /// How many forgotten ids are removed at most with each that is recorded: more than one, so that pruning gains on
  /// them, and few, so that no batch pays for many.
  private static let prunedAtOnce = 16

  private let retention: Retention
  private let now: @Sendable () -> Date

  /// Creates a look at the ids of whatever store is given to its methods.
  ///
  /// - Parameters:
  ///   - retention: How long ids are kept.
  ///   - now: Tells the time.
  public init(retention: Retention = Retention(), now: @escaping @Sendable () -> Date = { Date() }) {
    self.retention = retention
    self.now = now
  }

  /// The model that holds the ids.
  static let schema = Result {
    try ModelSchema(
      name: ReservedModel.appliedBatches,
      fields: [FieldSchema("id", .uuid), FieldSchema("number", .int64), FieldSchema("appliedAt", .date)],
      key: ["id"], indexes: [IndexSchema(["number"], isUnique: true)])
  }

  /// Records that a batch is applied, in the transaction that applies it, and forgets some of the oldest.
  ///
  /// - Parameters:
  ///   - id: The batch's id.
  ///   - transaction: The transaction of the batch.
  /// - Returns: Whether the batch is new: false where it has been applied before and must not be again.
  /// - Throws: ``PersistenceError``.
  public func record(_ id: UUID, in transaction: any StorageTransaction) throws -> Bool {
    let schema = try Self.schema.get()
    try transaction.define(schema)
    guard try !contains(id, in: transaction) else { return false }
    let number = (try numbers(in: transaction, isDescending: true, limit: 1).first?.number ?? 0) + 1
    let row = RowBuffer(count: schema.fields.count)
    row.set([.uuid(id), .integer(number), .date(now().timeIntervalSinceReferenceDate)])
    try row.withRow { try transaction.insert($0, in: schema) }
    try forget(before: number, in: transaction)
    return true
  }

  /// Whether a batch is known to have been applied.
  ///
  /// - Parameters:
  ///   - id: The batch's id.
  ///   - reader: The store.
  /// - Returns: Whether it was; also false where it was so long ago that its id has been forgotten.
  /// - Throws: ``PersistenceError``.
  public func contains(_ id: UUID, in reader: any StorageReader) throws -> Bool {
    try reader.find(RecordKey([.uuid(id)]), in: try Self.schema.get()) { _ in }
  }

  private struct Entry {
    let number: Int64
    let appliedAt: Double
  }

  /// The first or last entries by number, which the index yields without a look at the others.
  private func numbers(in transaction: any StorageTransaction, isDescending: Bool, limit: Int) throws
    -> [Entry]
  {
    let request = try FetchRequest(
      try Self.schema.get(), order: [FieldOrder("number", isDescending: isDescending)], limit: limit)
    var entries: [Entry] = []
    _ = try transaction.fetch(request).read(from: 0, limit: limit) { row in
      entries.append(Entry(number: row[1].integerValue, appliedAt: row[2].doubleValue))
    }
    return entries
  }

  private func forget(before number: Int64, in transaction: any StorageTransaction) throws {
    let lastForgotten = number - Int64(retention.count)
    let cutoff = now().timeIntervalSinceReferenceDate - Double(retention.age.components.seconds)
    func isForgotten(_ entry: Entry) -> Bool { entry.number <= lastForgotten || entry.appliedAt < cutoff }
    guard let oldest = try numbers(in: transaction, isDescending: false, limit: 1).first, isForgotten(oldest)
    else { return }
    let old = try numbers(in: transaction, isDescending: false, limit: Self.prunedAtOnce).prefix(
      while: isForgotten)
    guard let last = old.last else { return }
    _ = try transaction.delete(
      try FetchRequest(
        try Self.schema.get(), where: .comparison(field: "number", .lessOrEqual, .integer(last.number))))
  }
}

extension ReservedModel {
  /// The ids of the batches that were applied lately: see ``AppliedBatches``.
  public static let appliedBatches = "persistence.batches"
}
