public import PersistenceDriver

/// What a migration did.
public struct MigrationReport: Sendable, Hashable, Codable {
  /// What was done to one model.
  public struct Model: Sendable, Hashable, Codable {
    /// The model's name in the source.
    public var name: String
    /// Its name in the destination.
    public var destinationName: String
    /// What was done with its records, by all runs together.
    public var counts: MigrationCounts
    /// How many bytes the values that were read take, roughly.
    public var bytes: Int
    /// How long copying, indexing and checking took in this run, in seconds.
    public var seconds: Double
    /// How many records were read a second while they were copied in this run.
    public var rate: Double
    /// The digest of the records that arrived; nil where none was asked for.
    public var digest: ContentDigest?

    /// Makes a statement of what was done.
    ///
    /// - Parameters:
    ///   - name: The model's name in the source.
    ///   - destinationName: Its name in the destination.
    ///   - counts: What was done with its records.
    ///   - bytes: How many bytes the values that were read take.
    ///   - seconds: How long it took.
    ///   - rate: How many records were read a second.
    ///   - digest: The digest of the records that arrived.
    public init(
      name: String, destinationName: String, counts: MigrationCounts = MigrationCounts(), bytes: Int = 0,
      seconds: Double = 0, rate: Double = 0, digest: ContentDigest? = nil
    ) {
      self.name = name
      self.destinationName = destinationName
      self.counts = counts
      self.bytes = bytes
      self.seconds = seconds
      self.rate = rate
      self.digest = digest
    }
  }

  /// The models, in the order of their names' bytes.
  public var models: [Model]
  /// How the copy was checked.
  public var verification: MigrationOptions.Verification
  /// Whether an earlier run had begun the migration.
  public var isResumed: Bool
  /// The first records that were put aside, no more than a hundred; all of them the sink was told.
  public var rejects: [MigrationReject] = []
  /// What comparing source and destination record by record found, where that was asked for.
  public var comparison: ComparisonReport?

  /// Values that were changed, since the destination cannot hold them as they are and that was allowed.
  public var losses: [MigrationLoss] = []
  /// What the source has beside its models, and what they do not say: it was left behind.
  public var unmappedObjects: [UnmappedObject] = []

  /// How many records a report names that were put aside.
  static let rejectLimit = 100

  /// Makes a report.
  ///
  /// - Parameters:
  ///   - models: The models.
  ///   - verification: How the copy was checked.
  ///   - isResumed: Whether an earlier run had begun the migration.
  ///   - comparison: What comparing record by record found.
  public init(
    models: [Model], verification: MigrationOptions.Verification, isResumed: Bool = false,
    comparison: ComparisonReport? = nil
  ) {
    self.models = models
    self.verification = verification
    self.isResumed = isResumed
    self.comparison = comparison
  }

  /// What was done with the records of all models.
  public var counts: MigrationCounts { models.reduce(into: MigrationCounts()) { $0.add($1.counts) } }
}
