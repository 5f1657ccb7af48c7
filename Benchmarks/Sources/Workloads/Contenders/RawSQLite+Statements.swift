extension RawSQLite {
  /// The prepared statements.
  enum Statement: Int, CaseIterable {
    case all, one, selected, selectedIndexed, count, insert, insertIndexed, update, deleteAll, begin, commit
    case allByTitle, oneByTitle, insertByTitle, allByUUID, oneByUUID, insertByUUID
    case tenByIndex

    var text: String {
      let columns = "id, uuid, title, genre, budget, gross, rating, releasedAt, votes, overview"
      let values = "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
      return switch self {
      case .all: "SELECT \(columns) FROM movie ORDER BY id"
      case .one: "SELECT \(columns) FROM movie WHERE id = ?"
      case .selected: "SELECT \(columns) FROM movie WHERE votes >= ? ORDER BY title, id"
      case .selectedIndexed: "SELECT \(columns) FROM indexed WHERE votes >= ? ORDER BY title, id"
      case .count: "SELECT COUNT(*) FROM movie WHERE votes >= ?"
      case .insert: "INSERT INTO movie \(values)"
      case .insertIndexed: "INSERT INTO indexed \(values)"
      case .update:
        "UPDATE movie SET uuid = ?2, title = ?3, genre = ?4, budget = ?5, gross = ?6, rating = ?7, "
          + "releasedAt = ?8, votes = ?9, overview = ?10 WHERE id = ?1"
      case .deleteAll: "DELETE FROM movie"
      case .begin: "BEGIN IMMEDIATE"
      case .commit: "COMMIT"
      case .allByTitle: "SELECT \(columns) FROM byTitle ORDER BY title"
      case .oneByTitle: "SELECT \(columns) FROM byTitle WHERE title = ?"
      case .insertByTitle: "INSERT INTO byTitle \(values)"
      case .allByUUID: "SELECT \(columns) FROM byUUID ORDER BY uuid"
      case .oneByUUID: "SELECT \(columns) FROM byUUID WHERE uuid = ?"
      case .tenByIndex:
        "SELECT \(columns) FROM indexed WHERE votes >= ? ORDER BY votes, id LIMIT 10"
      case .insertByUUID: "INSERT INTO byUUID \(values)"
      }
    }
  }
}
