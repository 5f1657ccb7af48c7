/// How far long work has come, told after each batch.
public struct MigrationProgress: Sendable, Hashable, Codable {
  /// What is being done.
  public enum Phase: String, Sendable, Hashable, Codable {
    /// Source and destination are compared with what an interrupted migration left.
    case resuming
    /// Records are read to find out what the destination can hold.
    case planning
    /// Records are written to the destination.
    case copying
    /// Indexes are built in the destination, and checked against the records.
    case indexing
    /// Records are read back from the destination.
    case verifying
    /// Records of two stores are compared.
    case comparing
  }

  /// What is being done.
  public var phase: Phase
  /// The model that it is done to.
  public var model: String
  /// How many of the model's records are done.
  public var done: Int
  /// How many records the model has.
  public var total: Int
  /// How many bytes the values take that have been read for copying, roughly; 0 in the other phases.
  public var bytes: Int
  /// How many of the model's records have been put aside.
  public var rejected: Int

  /// Makes a statement of progress.
  ///
  /// - Parameters:
  ///   - phase: What is being done.
  ///   - model: The model that it is done to.
  ///   - done: How many of the model's records are done.
  ///   - total: How many records the model has.
  ///   - bytes: How many bytes the values take that have been read.
  ///   - rejected: How many records have been put aside.
  public init(phase: Phase, model: String, done: Int, total: Int, bytes: Int = 0, rejected: Int = 0) {
    self.phase = phase
    self.model = model
    self.done = done
    self.total = total
    self.bytes = bytes
    self.rejected = rejected
  }
}
