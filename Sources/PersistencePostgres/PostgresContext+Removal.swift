import PersistenceDriver
import PersistenceSQL

extension PostgresContext {
  /// Removes the tables and indexes that transactions have dropped, as far as no reader uses them.
  ///
  /// A drop waits for the readers of a table, and new readers wait behind it. So transactions only make the catalog
  /// forget a table, and this removes it when nobody is in its way: after the commit, and later again.
  func removeDropped() {
    var isComplete = false
    defer { store.noteRemoval(isComplete: isComplete) }
    guard let connection = try? pool.take() else { return }
    var schema = PostgresParameters()
    schema.add(text: store.dialect.identifier(store.configuration.schema))
    let notes = PostgresCommand(
      "SELECT kind, name, relation IS NOT NULL AND \(PostgresDropped.means("relation::oid")) "
        + "FROM \(PostgresDropped.notes(store)) LIMIT 100", schema)
    do {
      // Each statement sees the newest state: writers may have committed while this waited for the lock.
      let results = try connection.run(
        [
          PostgresCommand("BEGIN ISOLATION LEVEL READ COMMITTED"), .lockTimeout(.milliseconds(20)),
          PostgresCommand("LOCK TABLE \(store.own("gate")) IN SHARE ROW EXCLUSIVE MODE"), notes,
        ], "remove dropped tables")
      guard let list = results.last, list.count > 0 else {
        isComplete = true
        return end(connection)
      }
      let used = try usedNames(connection)
      var refused = 0
      for row in 0..<list.count where refused < 4 {
        guard let kind = list.text(row, 0), let name = list.text(row, 1) else { continue }
        let exists = list.integer(row, 2) == 1 && !used.contains(PostgresNaming.key(name))
        if try !remove(kind, name, exists: exists, connection) { refused += 1 }
      }
      _ = try connection.run([PostgresCommand("COMMIT")], "remove dropped tables")
      pool.giveBack(connection)
      isComplete = refused == 0 && list.count < 100
    } catch {
      // A later transaction tries again.
      end(connection)
    }
  }

  /// The names of the tables and indexes that hold models.
  private func usedNames(_ connection: PostgresConnection) throws -> Set<String> {
    let catalog = try store.catalog(connection.run(store.catalogCommands, "read the catalog")[...])
    var names: Set<String> = []
    for model in catalog.layouts.keys {
      guard let layout = try store.table(model, in: catalog)?.layout else { continue }
      names.insert(PostgresNaming.key(layout.table))
      names.formUnion(layout.indexes.compactMap { $0.name.map(PostgresNaming.key) })
    }
    return names
  }

  /// Forgets a note, and removes what it names if that still exists; returns false if something is in the way.
  private func remove(_ kind: String, _ name: String, exists: Bool, _ connection: PostgresConnection) throws
    -> Bool
  {
    var parameters = PostgresParameters()
    parameters.add(text: name)
    parameters.add(text: kind)
    let drop = PostgresCommand(
      "DROP \(kind.hasPrefix("index") ? "INDEX" : "TABLE") \(store.dialect.table(name))")
    let forget = PostgresCommand(
      "DELETE FROM \(store.own("dropped")) WHERE name = $1 AND kind = $2", parameters)
    do {
      _ = try connection.run(
        [PostgresCommand("SAVEPOINT removal")] + (exists ? [drop] : [])
          + [forget, PostgresCommand("RELEASE removal")], "remove a dropped table")
      return true
    } catch let error as PersistenceError where !error.isLostConnection {
      _ = try connection.run([PostgresCommand("ROLLBACK TO removal")], "keep a dropped table")
      return false
    }
  }
}
