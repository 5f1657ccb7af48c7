/// What was done with records: of one model, or of all.
public struct MigrationCounts: Sendable, Hashable, Codable {
  /// How many were read from the source, those that could not be read included.
  public var read: Int
  /// How many were added to the destination.
  public var written: Int
  /// How many stayed away, since the destination held a record of their key.
  public var skipped: Int
  /// How many took the place of the destination's record of their key.
  public var replaced: Int
  /// How many were put aside.
  public var rejected: Int

  /// Makes counts.
  ///
  /// - Parameters:
  ///   - read: How many were read.
  ///   - written: How many were added.
  ///   - skipped: How many stayed away.
  ///   - replaced: How many took another's place.
  ///   - rejected: How many were put aside.
  public init(read: Int = 0, written: Int = 0, skipped: Int = 0, replaced: Int = 0, rejected: Int = 0) {
    self.read = read
    self.written = written
    self.skipped = skipped
    self.replaced = replaced
    self.rejected = rejected
  }

  /// Adds what was done with others.
  mutating func add(_ other: MigrationCounts) {
    read += other.read
    written += other.written
    skipped += other.skipped
    replaced += other.replaced
    rejected += other.rejected
  }
}
