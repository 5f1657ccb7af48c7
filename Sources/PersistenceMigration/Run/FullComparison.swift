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
      let model = try compare(route, destination, progress)
      models.append(model)
      let mayDiffer = migration.options.conflicts != .fail
      // Where keys are converted, two records of the source may have one: of these, one was dealt with as a conflict.
      let namesakes = route.mapper.changesKey ? done.counts.rejected + done.counts.replaced : 0
      guard mayDiffer || (model.onlyRight == 0 && model.changed <= namesakes),
        model.changed <= done.counts.skipped + namesakes, model.onlyLeft <= done.counts.rejected
      else {
        let first = model.differences.first.map { "\($0)" } ?? "\(model.differenceCount) records differ"
        throw PersistenceError.verificationFailed(
          route.destination.name, first, location: migration.destination.location)
      }
    }
    return ComparisonReport(models: models)
  }

  private func compare(
    _ route: ModelRoute, _ destination: any StorageSnapshot, _ progress: (MigrationProgress) throws -> Void
  ) throws -> ComparisonReport.Model {
    let schema = route.destination
    let source = MappedReader(route, snapshot, passesOver: migration.options.failures == .reject)
    if route.mapper.changesKey {
      return try LookupComparison(schema, in: source, and: destination, differenceLimit: Self.differenceLimit)
        .run(progress)
    }
    return try ModelComparison(
      schema, in: source, schema, in: destination, differenceLimit: Self.differenceLimit
    ).run(progress)
  }
}
