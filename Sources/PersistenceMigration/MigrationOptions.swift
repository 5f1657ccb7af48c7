/// How a migration is done.
public struct MigrationOptions: Sendable, Hashable {
  /// How a finished copy is checked.
  public enum Verification: String, Sendable, Hashable, Codable, CaseIterable {
    /// Not at all.
    case none
    /// The records of each model are counted in the destination.
    case count
    /// The records of each model are counted, and read back to compare their digests with those of the source.
    case digest
    /// As by digest; then source and destination are compared record by record, and the differences are named.
    case full
  }

  /// What is done where the destination holds a record of the same key already.
  public enum Conflicts: String, Sendable, Hashable, Codable, CaseIterable {
    /// The migration is refused, before anything is written, where the destination holds a record of a model that is
    /// copied.
    case fail
    /// The destination's record stays.
    case skip
    /// The source's record takes its place.
    case replace
  }

  /// What is done with a record that cannot be read, or that the destination refuses for what it is.
  public enum Failures: String, Sendable, Hashable, Codable, CaseIterable {
    /// The migration stops; it can be resumed.
    case stop
    /// The record is put aside, with the reason, and the migration goes on.
    case reject
  }

  /// Where a migration begins.
  public enum Start: String, Sendable, Hashable, Codable, CaseIterable {
    /// At the beginning; a destination that holds an unfinished migration is refused.
    case new
    /// Where the unfinished migration in the destination stopped, after making sure that source and destination are
    /// as it left them.
    case resume
    /// At the beginning, after removing what the unfinished migration in the destination had made.
    case restart
  }

  /// The models that are copied, by the names that they have in the source; all of them where it is nil.
  public var models: [String]?

  /// How many records are written in one transaction at most.
  public var batchSize: Int

  /// How many bytes of values are written in one transaction, roughly; a batch ends with the record that passes
  /// it.
  public var batchBytes: Int

  /// What is done where the destination holds a record of the same key already.
  public var conflicts: Conflicts

  /// What is done with a record that cannot be read, or that the destination refuses for what it is.
  public var failures: Failures

  /// How many records may be put aside before the migration stops; any number where it is nil.
  public var maxRejects: Int?

  /// Where the migration begins.
  public var start: Start

  /// Whether values that the destination cannot hold as they are may be changed to what it can hold.
  public var allowLossy: Bool

  /// How the finished copy is checked.
  public var verification: Verification

  /// How models and fields are called, and what they hold, in the destination.
  public var mapping: MigrationMapping

  /// Makes options.
  ///
  /// - Parameters:
  ///   - models: The models that are copied; all of them where it is nil.
  ///   - batchSize: How many records are written in one transaction at most.
  ///   - batchBytes: How many bytes of values are written in one transaction, roughly.
  ///   - conflicts: What is done where the destination holds a record of the same key already.
  ///   - failures: What is done with a record that cannot be carried over.
  ///   - maxRejects: How many records may be put aside before the migration stops.
  ///   - start: Where the migration begins.
  ///   - allowLossy: Whether values may be changed to what the destination can hold.
  ///   - verification: How the finished copy is checked.
  ///   - mapping: How models and fields are called, and what they hold, in the destination.
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

extension MigrationOptions.Verification {
  /// Whether digests are made.
  var wantsDigest: Bool { self == .digest || self == .full }
}
