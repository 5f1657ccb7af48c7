/// The options of a migration.
public struct MigrationOptions: Sendable, Hashable {
  /// The models to copy, by their names in the source; nil for all.
  public var models: [String]?

  /// The maximum number of records per transaction.
  public var batchSize: Int

  /// The approximate maximum size of a transaction's values, in bytes; the record that exceeds it ends the batch.
  public var batchBytes: Int

  /// How to resolve a record whose key exists in the destination.
  public var conflicts: Conflicts

  /// How to handle a record that cannot be read, converted or stored.
  public var failures: Failures

  /// The maximum number of rejects before the migration stops; nil for no limit.
  public var maxRejects: Int?

  /// How to start.
  public var start: Start

  /// Whether values may be changed to values that the destination can store.
  public var allowLossy: Bool

  /// How to verify the finished copy.
  public var verification: Verification

  /// The mapping of models and fields from the source to the destination.
  public var mapping: MigrationMapping

  /// Whether to copy everything that the source stores, as a backup does: removed fields and this package's own records
  /// too.
  package var copiesEverything = false

  /// Whether the first transaction removes all models of the destination.
  package var clearsDestination = false

  /// Whether the last transaction leaves a receipt of what was copied.
  var leavesReceipt = false

  /// Creates options.
  ///
  /// - Parameters:
  ///   - models: The models to copy; nil for all.
  ///   - batchSize: The maximum number of records per transaction.
  ///   - batchBytes: The approximate maximum size of a transaction's values, in bytes.
  ///   - conflicts: How to resolve a record whose key exists in the destination.
  ///   - failures: How to handle a record that cannot be copied.
  ///   - maxRejects: The maximum number of rejects before the migration stops.
  ///   - start: How to start.
  ///   - allowLossy: Whether values may be changed to values that the destination can store.
  ///   - verification: How to verify the finished copy.
  ///   - mapping: The mapping of models and fields.
  public init(
    models: [String]? = nil, batchSize: Int = 10_000, batchBytes: Int = 8 << 20,
    conflicts: Conflicts = .fail, failures: Failures = .stop, maxRejects: Int? = nil, start: Start = .new,
    allowLossy: Bool = false, verification: Verification = .digest,
    mapping: MigrationMapping = MigrationMapping()
  ) {
    self.models = models
    self.batchSize = batchSize
    self.batchBytes = batchBytes
    self.conflicts = conflicts
    self.failures = failures
    self.maxRejects = maxRejects
    self.start = start
    self.allowLossy = allowLossy
    self.verification = verification
    self.mapping = mapping
  }
}

/// The choices that options offer.
extension MigrationOptions {
  /// How to verify the finished copy.
  public enum Verification: String, Sendable, Hashable, Codable, CaseIterable {
    /// No verification.
    case none
    /// Count the records of each model in the destination.
    case count
    /// Count the records of each model, read them back and compare their digest with that of the source.
    case digest
    /// Verify by digest, then compare both stores record by record and report the differences.
    case full
  }

  /// How to resolve a record whose key exists in the destination.
  public enum Conflicts: String, Sendable, Hashable, Codable, CaseIterable {
    /// Refuse to start if the destination holds records of a copied model.
    case fail
    /// Keep the destination's record.
    case skip
    /// Replace the destination's record.
    case replace
  }

  /// How to handle a record that cannot be read, converted or stored.
  public enum Failures: String, Sendable, Hashable, Codable, CaseIterable {
    /// Stop the migration; it can be resumed.
    case stop
    /// Reject the record with a reason, and continue.
    case reject
  }

  /// How to start.
  public enum Start: String, Sendable, Hashable, Codable, CaseIterable {
    /// Start a new migration; refuse a destination with an unfinished one.
    case new
    /// Continue the unfinished migration in the destination, after checking that neither store has changed.
    case resume
    /// Remove what the unfinished migration in the destination copied, and start a new one.
    case restart
  }
}

extension MigrationOptions.Verification {
  var computesDigests: Bool { self == .digest || self == .full }
}
