import PersistenceDriver

extension Migration {
  /// Makes sure, before anything is written, that nothing is lost that may not be.
  ///
  /// The source is read for that only where the mapping or the destination could lose something at all.
  ///
  /// - Parameters:
  ///   - routes: The models that are copied.
  ///   - snapshot: The source.
  ///   - progress: Told how far the reading has come.
  /// - Returns: What is lost with permission, and what the models do not say.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/lossyMigration``.
  func requirePermission(
    for routes: [ModelRoute], in snapshot: any StorageSnapshot, _ progress: (MigrationProgress) throws -> Void
  ) throws -> (losses: [MigrationLoss], unmappedObjects: [UnmappedObject]) {
    let capabilities = destination.capabilities
    let unmappedObjects = try unmappedObjects(of: snapshot, besides: routes.map(\.source))
    var losses: [MigrationLoss] = []
    for route in routes where Self.couldLose(route, capabilities) {
      var counter = LossCounter(route.mapper, for: capabilities)
      try RecordScan(route.source, in: snapshot).run(progress) { _ in
      } reading: { row in
        try counter.note(row)
      }
      losses += counter.found.filter(\.isChange)
    }
    try MigrationPlan.requirePermission(losses: losses, unmappedObjects: unmappedObjects, by: options)
    return (losses, unmappedObjects)
  }

  private static func couldLose(_ route: ModelRoute, _ capabilities: Capabilities) -> Bool {
    route.mapper.mayLose
      || (capabilities.datePrecision != .exact && route.destination.fields.contains { $0.kind == .date })
  }
}
