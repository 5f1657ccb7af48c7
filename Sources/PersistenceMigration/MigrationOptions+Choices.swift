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
