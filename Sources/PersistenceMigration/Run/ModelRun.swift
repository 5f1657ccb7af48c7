import PersistenceDriver
import PersistenceDriverSupport

/// Everything that is done to one model: copying, building its indexes, checking.
struct ModelRun {
  let migration: Migration
  let route: ModelRoute
  let snapshot: any StorageSnapshot

  /// Does what the ledger says is left to do.
  func run(
    _ entry: inout LedgerEntry, _ rejectCount: inout Int, _ progress: (MigrationProgress) throws -> Void
  ) throws -> MigrationReport.Model {
    let start = ContinuousClock.now
    let known = entry.counts.read
    try ModelCopy(migration: migration, route: route, snapshot: snapshot)
      .run(&entry, rejectCount: &rejectCount, progress)
    let copying = (ContinuousClock.now - start).timeInterval
    if entry.state == .copied { try buildIndexes(&entry, progress) }
    try Verification(migration: migration, route: route).run(entry, progress)
    let read = entry.counts.read - known
    return MigrationReport.Model(
      name: route.source.name, destinationName: route.destination.name, counts: entry.counts,
      bytes: entry.bytes, seconds: (ContinuousClock.now - start).timeInterval,
      rate: copying > 0 ? Double(read) / copying : 0, digest: entry.now.digest)
  }

  private func buildIndexes(
    _ entry: inout LedgerEntry, _ progress: (MigrationProgress) throws -> Void
  ) throws {
    var indexed = entry
    indexed.state = .indexed
    try migration.buildIndexes(of: route, entry, then: indexed, progress)
    entry = indexed
  }
}
