public import PersistenceDriver

/// The plan of a migration, from a complete scan of the source.
public struct MigrationPlan: Sendable, Hashable, Codable {
  /// The plans by model, sorted by the bytes of the models' names.
  public var models: [Model]
  /// The objects of the source that models do not express.
  public var unmappedObjects: [UnmappedObject]
  /// The estimated space and time.
  public var estimate: Estimate
  /// Whether the destination holds an unfinished migration.
  public var isInterrupted = false

  /// The number of records of all models.
  public var records: Int { models.reduce(0) { $0 + $1.records } }

  /// The approximate size of all values, in bytes.
  public var bytes: Int { models.reduce(0) { $0 + $1.bytes } }

  /// The losses of all models.
  public var losses: [MigrationLoss] { models.flatMap(\.losses) }

  /// Whether the migration would change values or omit unmapped records.
  ///
  /// Records that cannot be copied at all do not count: they stop the migration or are rejected, depending on
  /// ``MigrationOptions/failures``.
  public var isLossy: Bool {
    losses.contains { $0.isChange } || unmappedObjects.contains(where: \.losesRecords)
  }

  package func requireAllowedLosses(by options: MigrationOptions) throws {
    try Self.requireAllowed(losses, unmappedObjects, by: options)
  }

  static func requireAllowed(
    _ losses: [MigrationLoss], _ unmappedObjects: [UnmappedObject], by options: MigrationOptions
  ) throws {
    guard !options.allowLossy else { return }
    var lines = losses.filter(\.isChange).map { "\($0)" }
    lines += unmappedObjects.filter(\.losesRecords).map {
      "the \($0.kind.rawValue) “\($0.name)”: \($0.detail)"
    }
    guard !lines.isEmpty else { return }
    throw PersistenceError(
      .lossyMigration,
      "the destination cannot store everything exactly: \(lines.joined(separator: "; ")); nothing was written; map "
        + "the fields differently, or allow lossy changes")
  }
}
