public import PersistenceDriver
import PersistenceDriverSupport

extension SQLiteContext: VerifiableContext {
  /// Runs SQLite's integrity check over the file and its indexes, and reads every record.
  ///
  /// The check reads every page that holds data, and thus verifies its checksum in a store with
  /// ``SQLiteConfiguration/checksums``. In others, a value that another value has replaced is not found.
  public func verify(_ report: (StoreFinding) throws -> Void) throws {
    do {
      // A new connection reads the file: it has no pages in memory yet.
      for row in try pool.open().rows("PRAGMA integrity_check(1000)") {
        guard case .text(let text)? = row.first, text != "ok" else { continue }
        try report(StoreFinding(.damaged, location, text))
      }
    } catch let error as PersistenceError where error.code == .damaged || error.code == .inputOutput {
      try report(StoreFinding(.damaged, location, error.message))
    }
    try snapshot().verifyByReading(report)
  }
}
