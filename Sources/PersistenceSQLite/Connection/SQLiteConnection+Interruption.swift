import CSQLite
import PersistenceDriver

extension SQLiteConnection {
  /// How many instructions of SQLite's virtual machine run between two checks: some microseconds.
  private static let instructionsPerCheck: Int32 = 1000

  /// Makes the statements of this connection stop when the calling thread is interrupted.
  ///
  /// Only connections that read call it: interrupting a write would roll its transaction back.
  func allowInterruption() {
    sqlite3_progress_handler(
      handle, Self.instructionsPerCheck, { _ in ReadInterruption.isRequested ? 1 : 0 }, nil)
  }

  /// The error of the calling thread's interruption; nil if there is none.
  static var interruption: PersistenceError? {
    do {
      try ReadInterruption.check()
      return nil
    } catch {
      return error as? PersistenceError
    }
  }
}
