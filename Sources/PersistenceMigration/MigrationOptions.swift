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
  }

  /// How many records are written in one transaction at most.
  public var batchSize: Int

  /// How many bytes of values are written in one transaction, roughly; a batch ends with the record that passes
  /// it.
  public var batchBytes: Int

  /// How the finished copy is checked.
  public var verification: Verification

  /// Makes options.
  ///
  /// - Parameters:
  ///   - batchSize: How many records are written in one transaction at most.
  ///   - batchBytes: How many bytes of values are written in one transaction, roughly.
  ///   - verification: How the finished copy is checked.
  public init(
    batchSize: Int = 10_000, batchBytes: Int = 16 << 20, verification: Verification = .digest
  ) {
    self.batchSize = batchSize
    self.batchBytes = batchBytes
    self.verification = verification
  }
}
