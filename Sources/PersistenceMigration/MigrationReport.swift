public import PersistenceDriver

/// The result of a migration.
public struct MigrationReport: Sendable, Hashable, Codable {
  /// The result for one model.
  public struct Model: Sendable, Hashable, Codable {
    /// The model's name in the source.
    public var name: String
    /// The model's name in the destination.
    public var destinationName: String
    /// The record counts of all runs.
    public var counts: MigrationCounts
    /// The approximate size of the values read, in bytes.
    public var bytes: Int
    /// The duration of the copy, the index builds and the verification in this run, in seconds.
    public var seconds: Double
    /// The records read per second during the copy in this run.
    public var rate: Double
    /// The digest of the destination's records; nil without digests.
    public var digest: ContentDigest?
  }

  /// The results by model, sorted by the bytes of the models' names.
  public var models: [Model]
  /// How the copy was verified.
  public var verification: MigrationOptions.Verification
  /// Whether the run resumed an earlier one.
  public var isResumed: Bool
  /// The first hundred rejects; the sink receives all of them.
  public var rejects: [MigrationReject] = []
  /// The comparison of both stores, for ``MigrationOptions/Verification/full``.
  public var comparison: ComparisonReport?

  /// The changed values that the options allowed.
  public var losses: [MigrationLoss] = []
  /// The objects of the source that models do not express, and that were not copied.
  public var unmappedObjects: [UnmappedObject] = []

  static let rejectLimit = 100

  /// The record counts of all models.
  public var counts: MigrationCounts { models.reduce(into: MigrationCounts()) { $0.add($1.counts) } }
}

/// The record counts of one model or of a whole migration.
public struct MigrationCounts: Sendable, Hashable, Codable {
  /// The records read from the source, including unreadable ones.
  public var read = 0
  /// The records inserted into the destination.
  public var written = 0
  /// The records skipped because the destination held their key.
  public var skipped = 0
  /// The records that replaced a record of the destination.
  public var replaced = 0
  /// The rejected records.
  public var rejected = 0

  package init(read: Int = 0, written: Int = 0, skipped: Int = 0, replaced: Int = 0, rejected: Int = 0) {
    self.read = read
    self.written = written
    self.skipped = skipped
    self.replaced = replaced
    self.rejected = rejected
  }

  mutating func add(_ other: MigrationCounts) {
    read += other.read
    written += other.written
    skipped += other.skipped
    replaced += other.replaced
    rejected += other.rejected
  }
}
