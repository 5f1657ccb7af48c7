import Synchronization

/// The progress of long work on a store: a change of schema, an index build, a migration or a comparison.
public struct StoreProgress: Sendable, Hashable, Codable {
  /// A phase of the work.
  public enum Phase: String, Sendable, Hashable, Codable {
    /// Checking both stores before an interrupted migration continues.
    case resuming
    /// Reading records for a plan.
    case planning
    /// Writing records to the destination.
    case copying
    /// Building indexes, or checking them against the records.
    case indexing
    /// Reading records back from the destination.
    case verifying
    /// Comparing the records of two stores.
    case comparing
    /// Rewriting records for a change of schema.
    case rewriting
    /// Making records in a step of a change of schema; the total is unknown.
    case stepping
    /// Erasing removed fields and models.
    case erasing
  }

  /// The current phase.
  public var phase: Phase
  /// The current model.
  public var model: String
  /// The number of processed records of the model; engines that cannot count them report 0 until the end.
  public var done: Int
  /// The number of records of the model; 0 if it is unknown.
  public var total: Int
  /// The approximate size of the values read for copying, in bytes; 0 in other phases.
  public var bytes = 0
  /// The number of rejected records of the model.
  public var rejected = 0

  package init(phase: Phase, model: String, done: Int, total: Int, bytes: Int = 0, rejected: Int = 0) {
    (self.phase, self.model, self.done, self.total) = (phase, model, done, total)
    (self.bytes, self.rejected) = (bytes, rejected)
  }
}

extension StoreProgress {
  /// Tells the caller of long work how many records are done, and throws if the caller cancels the work.
  ///
  /// An engine calls it for each record, or at least once for every thousand, while it rewrites records or builds
  /// indexes. It calls it only where an error leaves nothing half done. The call costs one load if no caller of the
  /// process follows any work.
  ///
  /// - Parameter done: The number of records done, including those that earlier calls of `buildIndexes(of:)` have done;
  ///   0 if the engine cannot count them.
  /// - Throws: The error of the caller, which the engine rethrows unchanged.
  public static func report(_ done: Int) throws {
    guard ProgressScope.count.load(ordering: .relaxed) != 0, let scope = ProgressScope.current else { return }
    try scope.report(done)
  }

  /// Whether a caller follows the work of the calling thread.
  package static var isFollowed: Bool {
    ProgressScope.count.load(ordering: .relaxed) != 0 && ProgressScope.current?.isActive == true
  }

  /// Runs work, and calls a closure with the number of records done.
  ///
  /// - Parameters:
  ///   - follow: Called on the calling thread, at the first report and then from time to time. If it throws, the work
  ///     stops and rethrows the error.
  ///   - work: The work.
  /// - Returns: The result of the work.
  /// - Throws: The error of either closure.
  package static func following<Result>(
    _ follow: (Int) throws -> Void, _ work: () throws -> Result
  ) throws -> Result {
    try withoutActuallyEscaping(follow) { follow in
      let scope = ProgressScope(follow)
      ProgressScope.count.add(1, ordering: .relaxed)
      defer {
        ProgressScope.count.subtract(1, ordering: .relaxed)
        scope.end()
      }
      return try ProgressScope.$current.withValue(scope, operation: work)
    }
  }
}
