import CSQLite
import PersistenceDriver

/// The error with which a caller has cancelled the running statement.
private final class SQLiteCancellation {
  var error: (any Error)?
}

extension SQLiteConnection {
  /// The instructions of SQLite's virtual machine between two reports: some hundred records.
  private static let reportInterval: Int32 = 4096

  /// Runs long statements, which a caller that follows the work can cancel.
  ///
  /// SQLite then rolls the whole transaction back. It does not count the records of a running statement.
  func reportingProgress<Result>(_ body: () throws -> Result) throws -> Result {
    guard StoreProgress.isFollowed else { return try body() }
    try StoreProgress.report(0)
    let cancellation = SQLiteCancellation()
    sqlite3_progress_handler(
      handle, Self.reportInterval,
      { context in
        do {
          try StoreProgress.report(0)
          return 0
        } catch {
          guard let context else { return 1 }
          Unmanaged<SQLiteCancellation>.fromOpaque(context).takeUnretainedValue().error = error
          return 1
        }
      }, Unmanaged.passUnretained(cancellation).toOpaque())
    defer { sqlite3_progress_handler(handle, 0, nil, nil) }
    do {
      return try withExtendedLifetime(cancellation, body)
    } catch {
      throw cancellation.error ?? error
    }
  }
}
