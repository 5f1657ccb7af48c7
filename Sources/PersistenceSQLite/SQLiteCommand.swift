/// The statements that every connection needs, whatever is stored.
enum SQLiteCommand: String, CaseIterable {
  case begin = "BEGIN"
  case beginImmediate = "BEGIN IMMEDIATE"
  case commit = "COMMIT"
  case rollback = "ROLLBACK"
  case savepoint = "SAVEPOINT persistence"
  case release = "RELEASE persistence"
  case rollbackToSavepoint = "ROLLBACK TO persistence"
  case schemaVersion = "PRAGMA schema_version"
  case dataVersion = "PRAGMA data_version"

  /// What is tried, for messages.
  var action: String {
    switch self {
    case .begin: "begin to read"
    case .beginImmediate: "begin a transaction"
    case .commit: "commit a transaction"
    case .rollback: "roll a transaction back"
    case .savepoint: "begin a nested transaction"
    case .release: "end a nested transaction"
    case .rollbackToSavepoint: "roll a nested transaction back"
    case .schemaVersion, .dataVersion: "read the store's version"
    }
  }

  var index: Int {
    switch self {
    case .begin: 0
    case .beginImmediate: 1
    case .commit: 2
    case .rollback: 3
    case .savepoint: 4
    case .release: 5
    case .rollbackToSavepoint: 6
    case .schemaVersion: 7
    case .dataVersion: 8
    }
  }
}
