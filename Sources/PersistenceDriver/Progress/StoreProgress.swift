/// The progress of a migration, a plan or a comparison, reported after each batch.
public struct MigrationProgress: Sendable, Hashable, Codable {
  /// A phase of the work.
  public enum Phase: String, Sendable, Hashable, Codable {
    /// Checking both stores before an interrupted migration continues.
    case resuming
    /// Reading records for a plan.
    case planning
    /// Writing records to the destination.
    case copying
    /// Building indexes in the destination, or checking them against the records.
    case indexing
    /// Reading records back from the destination.
    case verifying
    /// Comparing the records of two stores.
    case comparing
  }

  /// The current phase.
  public var phase: Phase
  /// The current model.
  public var model: String
  /// The number of processed records of the model.
  public var done: Int
  /// The number of records of the model.
  public var total: Int
  /// The approximate size of the values read for copying, in bytes; 0 in other phases.
  public var bytes = 0
  /// The number of rejected records of the model.
  public var rejected = 0
}
