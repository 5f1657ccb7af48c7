import PersistenceDriver

/// The comparison of source and destination record by record, in the end.
struct FullComparison {
  private static let differenceLimit = 100

  private let migration: Migration
  private let routes: [ModelRoute]
  private let snapshot: any StorageSnapshot

  init(_ migration: Migration, _ routes: [ModelRoute], _ snapshot: any StorageSnapshot) {
    self.migration = migration
    self.routes = routes
    self.snapshot = snapshot
  }

  /// Compares, and makes sure that nothing differs but what the migration itself left different: records that were put
  /// aside, skipped, or in the destination before.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/verificationFailed``, naming the first difference.
  func run(_ report: MigrationReport, _ progress: (MigrationProgress) throws -> Void) throws
    -> ComparisonReport
  {
    let destination = try migration.destination.snapshot()
    var models: [ComparisonReport.Model] = []
    for (route, done) in zip(routes, report.models) {
      let comparison = ModelComparison(
        route.destination,
        in: MappedReader(route, snapshot, passesOver: migration.options.failures == .reject),
        route.destination, in: destination,
        isComparedByKey: !route.mapper.changesKey, differenceLimit: Self.differenceLimit)
      let model = try comparison.run(progress)
      models.append(model)
      let mayDiffer = migration.options.conflicts != .fail
      guard mayDiffer || (model.onlyRight == 0 && model.changed == 0),
        model.changed <= done.counts.skipped, model.onlyLeft <= done.counts.rejected
      else {
        let first = model.differences.first.map { "\($0)" } ?? "\(model.differenceCount) records differ"
        throw PersistenceError.verificationFailed(
          route.destination.name, first, location: migration.destination.location)
      }
    }
    return ComparisonReport(models: models)
  }
}
