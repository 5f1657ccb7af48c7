public import Foundation
import PersistenceDriver

/// The ids of the batches that a store applied recently, which make batches idempotent.
///
/// After a lost connection, a sender does not know whether its batch arrived, and sends it again. The store keeps the
/// ids itself, in a model with a reserved name. The transaction of a batch also writes its id, so a batch that was
/// rolled back, by an error or because the process was killed, leaves no id.
///
/// ```swift
/// try context.transaction { transaction in
///   guard try AppliedBatches().record(batch.id, in: transaction) else { return }
///   for row in batch.rows { … }
/// }
/// ```
///
/// An id identifies one batch. Pass a digest of the batch to detect another batch with the same id; without a digest,
/// it counts as a repetition. A migration does not copy the ids.
public struct AppliedBatches: Sendable {
  /// The limits for ids; recording an id removes some of those beyond the limits.
  public struct Retention: Sendable, Hashable {
    /// The maximum age of an id.
    public var age: Duration
    /// The maximum number of ids.
    public var count: Int

    /// Creates limits.
    public init(age: Duration = .seconds(30 * 86_400), count: Int = 1_000_000) {
      self.age = age
      self.count = max(1, count)
    }
  }

  /// The maximum number of ids that one batch removes: more than one, so that pruning catches up, but few, so that no
  /// batch is slow.
  private static let prunedAtOnce = 16

  private let retention: Retention
  private let now: @Sendable () -> Date

  /// Creates an object that reads and records ids in the stores passed to its methods.
  ///
  /// - Parameters:
  ///   - retention: The limits for ids.
  ///   - now: Returns the current time.
  public init(retention: Retention = Retention(), now: @escaping @Sendable () -> Date = { Date() }) {
    self.retention = retention
    self.now = now
  }

  /// The model of the ids.
  static let schema = Result {
    try ModelSchema(
      name: ReservedModel.appliedBatches,
      fields: [FieldSchema("id", .uuid), FieldSchema("number", .int64), FieldSchema("appliedAt", .date)],
      key: ["id"], indexes: [IndexSchema(["number"], isUnique: true)])
  }

  /// The model of the digests, by the ids of their batches.
  static let digestSchema = Result {
    try ModelSchema(
      name: ReservedModel.batchDigests, fields: [FieldSchema("id", .uuid), FieldSchema("digest", .data)],
      key: ["id"])
  }

  /// Records a batch in the transaction that applies it, and removes some of the oldest ids.
  ///
  /// - Parameters:
  ///   - id: The batch's id.
  ///   - digest: A digest of the batch's content; nil to compare ids only.
  ///   - transaction: The transaction of the batch.
  /// - Returns: Whether the batch is new; if false, do not apply it again.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/batchReused`` if the id was recorded with another
  ///   digest; and errors of the store.
  public func record(_ id: UUID, digest: [UInt8]? = nil, in transaction: any StorageTransaction) throws
    -> Bool
  {
    let schema = try Self.schema.get()
    try transaction.define(schema)
    guard try !contains(id, in: transaction) else {
      try compare(digest, of: id, in: transaction)
      return false
    }
    if let digest { try insert(digest, of: id, in: transaction) }
    let last = try numbers(in: transaction, isDescending: true, limit: 1).first?.number ?? 0
    // No store reaches so many batches.
    guard (0..<1 << 62).contains(last) else {
      throw PersistenceError.damaged("the number of the last batch is \(last)").at(model: schema.name)
    }
    let number = last + 1
    let row = RowBuffer(count: schema.fields.count)
    row.set([.uuid(id), .integer(number), .date(now().timeIntervalSinceReferenceDate)])
    try row.withRow { try transaction.insert($0, in: schema) }
    try forget(before: number, in: transaction)
    return true
  }

  /// Whether the store has the id of a batch.
  ///
  /// - Parameters:
  ///   - id: The batch's id.
  ///   - reader: The store.
  /// - Returns: Whether the batch was applied; also false if its id has been removed since.
  /// - Throws: ``PersistenceError``.
  public func contains(_ id: UUID, in reader: any StorageReader) throws -> Bool {
    try reader.find(RecordKey([.uuid(id)]), in: try Self.schema.get()) { _ in }
  }

  private func insert(_ digest: [UInt8], of id: UUID, in transaction: any StorageTransaction) throws {
    let schema = try Self.digestSchema.get()
    try transaction.define(schema)
    let row = RowBuffer(count: 2)
    row.set([.uuid(id), .bytes(digest)])
    try row.withRow { try transaction.insert($0, in: schema) }
  }

  private func compare(_ digest: [UInt8]?, of id: UUID, in transaction: any StorageTransaction) throws {
    guard let digest else { return }
    var recorded = PersistentValue.bytes(digest)
    _ = try transaction.find(RecordKey([.uuid(id)]), in: try Self.digestSchema.get()) {
      recorded = try $0.value(at: 1)
    }
    guard recorded == .bytes(digest) else {
      throw PersistenceError(
        .batchReused,
        "another batch with the id \(id) was applied before, and this one was not; send it with an id of its own"
      )
    }
  }

  private struct Entry {
    let id: UUID
    let number: Int64
    let appliedAt: Double
  }

  /// The first or last entries by number, read from the index.
  private func numbers(in transaction: any StorageTransaction, isDescending: Bool, limit: Int) throws
    -> [Entry]
  {
    let request = try FetchRequest(
      try Self.schema.get(), order: [FieldOrder("number", isDescending: isDescending)], limit: limit)
    var entries: [Entry] = []
    _ = try transaction.fetch(request).read(from: 0, limit: limit) { row in
      entries.append(
        Entry(
          id: try row.field(at: 0).uuidValue, number: try row.field(at: 1).integerValue,
          appliedAt: try row.field(at: 2).doubleValue))
    }
    return entries
  }

  private func forget(before number: Int64, in transaction: any StorageTransaction) throws {
    let lastForgotten = number - Int64(max(1, retention.count))
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
    let digests = try Self.digestSchema.get()
    guard try transaction.schema(named: digests.name) != nil else { return }
    for entry in old { _ = try transaction.delete(RecordKey([.uuid(entry.id)]), in: digests) }
  }
}

extension PersistenceError.Code {
  /// The id of a batch was used before, for another batch; the store did not apply this one.
  public static let batchReused = Self(rawValue: "batchReused")
}

extension ReservedModel {
  /// The ids of the batches applied recently: see ``AppliedBatches``.
  public static let appliedBatches = "persistence.batches"
  /// The digests of these batches, where the caller compares them.
  static let batchDigests = "persistence.batches.digests"
}
