public import PersistenceDriver

/// A record that a migration put aside.
public struct MigrationReject: Sendable, Hashable, Codable {
  /// The model's name in the source.
  public var model: String
  /// How many records of the model come before it in the source, in the order of their keys.
  public var position: Int
  /// Its key, where it could be read.
  public var key: RecordKey?
  /// The stable name of why it was put aside: the raw value of a ``PersistenceError/Code``.
  public var code: String
  /// Why it was put aside, in words.
  public var reason: String
  /// Its values by the names of their fields, as JSON; nil where it could not be read.
  public var record: String?

  /// Makes a statement of a record that was put aside.
  ///
  /// - Parameters:
  ///   - model: The model's name in the source.
  ///   - position: How many records of the model come before it.
  ///   - key: Its key.
  ///   - code: The stable name of the reason.
  ///   - reason: The reason in words.
  ///   - record: Its values as JSON.
  public init(
    model: String, position: Int, key: RecordKey?, code: String, reason: String, record: String?
  ) {
    self.model = model
    self.position = position
    self.key = key
    self.code = code
    self.reason = reason
    self.record = record
  }
}

/// Where a migration says which records it put aside.
///
/// The rejects are kept in the destination, in the transactions of their batches, until the migration is published;
/// so a sink is told each of them once and only when it is certain, whatever was interrupted.
public protocol MigrationRejectSink: Sendable {
  /// Begins, with the records that the runs before this one put aside; what the sink held before is stale.
  ///
  /// - Throws: What stops the migration, which can then be resumed.
  func begin(with rejects: [MigrationReject]) throws

  /// Adds the records that a batch put aside.
  ///
  /// - Throws: What stops the migration, which can then be resumed.
  func add(_ rejects: [MigrationReject]) throws
}
