import PersistenceDriver

/// The comparison of source and destination, record by record, at the end of a migration.
struct FullVerification {
  private static let differenceLimit = 100

  let migration: Migration
  let mappers: [RecordMapper]
  let snapshot: any StorageSnapshot

  /// Compares, and allows only the differences that the migration itself caused: records that it rejected or skipped,
  /// and records that the destination held before.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/verificationFailed`` that names the first
  ///   difference.
  func run(_ report: MigrationReport, _ progress: (StoreProgress) throws -> Void) throws
    -> ComparisonReport
  {
    let destination = try migration.destination.snapshot()
    var models: [ComparisonReport.Model] = []
    for (mapper, done) in zip(mappers, report.models) {
      let model = try compare(mapper, destination, progress)
      models.append(model)
      let mayDiffer = migration.options.conflicts != .fail
      // A converted key may be the same for two source records; all but one of them are conflicts.
      let collisions = mapper.changesKey ? done.counts.rejected + done.counts.replaced : 0
      guard mayDiffer || (model.onlyRight == 0 && model.changed <= collisions),
        model.changed <= done.counts.skipped + collisions, model.onlyLeft <= done.counts.rejected
      else {
        let first = model.differences.first.map { "\($0)" } ?? "\(model.differenceCount) records differ"
        throw PersistenceError.verificationFailed(
          mapper.destination.name, first, location: migration.destination.location)
      }
    }
    return ComparisonReport(models: models)
  }

  private func compare(
    _ mapper: RecordMapper, _ destination: any StorageSnapshot,
    _ progress: (StoreProgress) throws -> Void
  ) throws -> ComparisonReport.Model {
    let schema = mapper.destination
    let source = MappedReader(mapper, snapshot, skipsRejects: migration.options.failures == .reject)
    if mapper.changesKey {
      return try LookupComparison(
        schema: schema, left: source, right: destination, differenceLimit: Self.differenceLimit
      ).run(progress)
    }
    return try ModelComparison(
      leftSchema: schema, leftReader: source, rightSchema: schema, rightReader: destination,
      differenceLimit: Self.differenceLimit
    ).run(progress)
  }
}
