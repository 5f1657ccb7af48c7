import Foundation
public import PersistenceDriver
import PersistenceDriverSupport

extension Migration {
  /// Plans a run without writing anything: reads every record of a source snapshot.
  ///
  /// The plan checks each record against the mapping and the destination's capabilities, so its losses are counts, not
  /// estimates.
  ///
  /// - Parameter progress: A closure that receives the progress. If it throws, planning stops and rethrows the error.
  /// - Returns: The plan.
  /// - Throws: ``PersistenceError`` if a store cannot be read, or the options name an unknown model or field.
  public func plan(_ progress: (StoreProgress) throws -> Void = { _ in }) throws -> MigrationPlan {
    let start = ContinuousClock.now
    let whole = try source.snapshot()
    try whole.requireFinished(at: source.location)
    let snapshot = try whole.hidingRemovedFields()
    let schemas = try chosenModels(of: snapshot.catalog())
    try options.mapping.check(against: schemas)
    let present = try destinationCounts()
    let models = try schemas.map { schema in
      try modelPlan(schema, in: snapshot, present: present, progress)
    }
    let seconds = (ContinuousClock.now - start).timeInterval
    var plan = MigrationPlan(
      models: models, unmappedObjects: try unmappedObjects(of: snapshot, besides: schemas),
      estimate: MigrationPlan.Estimate(
        bytes: models.reduce(0) { $0 + Self.estimatedSize($1) },
        free: destination.capabilities.hasFiles ? FreeSpace.bytes(at: destination.location) : nil,
        seconds: seconds * 3,
        basis:
          "space from the size of the values plus overhead for records and indexes, time as three times that of "
          + "this scan"))
    plan.isInterrupted = try isInterrupted()
    return plan
  }

  private func isInterrupted() throws -> Bool {
    do {
      try destination.requireCompleteNow()
      return false
    } catch let error as PersistenceError where error.code == .incompleteStore {
      return true
    }
  }

  private func destinationCounts() throws -> [StoredName: Int] {
    var counts: [StoredName: Int] = [:]
    for schema in try destination.catalog() where !schema.isReserved {
      counts[StoredName(schema.name)] = try destination.count(try FetchRequest(schema))
    }
    return counts
  }

  /// The values, overhead per record, and index entries for half of the values.
  private static func estimatedSize(_ model: MigrationPlan.Model) -> Int {
    model.bytes + model.bytes / 2 + model.records * 48 + 65_536
  }
}

/// The free disk space at a store's location.
package enum FreeSpace {
  /// The free bytes at a path, which need not exist.
  package static func bytes(at path: String) -> Int? {
    var url = URL(fileURLWithPath: path).standardizedFileURL
    while !FileManager.default.fileExists(atPath: url.path), url.path != "/" { url.deleteLastPathComponent() }
    var status = statvfs()
    guard statvfs(url.path, &status) == 0 else { return nil }
    // File systems without a limit report as many blocks as the type holds.
    let (bytes, isUnlimited) = Int(clamping: status.f_bavail).multipliedReportingOverflow(
      by: Int(clamping: status.f_frsize))
    return isUnlimited ? .max : bytes
  }
}
