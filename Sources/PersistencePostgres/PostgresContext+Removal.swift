import PersistenceDriver
import PersistenceSQL

extension PostgresContext {
  /// Removes the tables and indexes that transactions have dropped, as far as no reader uses them.
  ///
  /// A drop waits for the readers of a table, and new readers wait behind it. So transactions only make the catalog
  /// forget a table, and this removes it when nobody is in its way.
  func removeDropped() {
    guard let connection = try? pool.take() else { return }
    var schema = PostgresParameters()
    schema.add(text: store.dialect.identifier(store.configuration.schema))
    let current = "pg_catalog.to_regclass($1 || '.' || pg_catalog.quote_ident(name))::oid::text"
    do {
      // Each statement sees the newest state: writers may have committed while this waited for the lock.
      let results = try connection.run(
        [
          PostgresCommand("BEGIN ISOLATION LEVEL READ COMMITTED"), .lockTimeout(.milliseconds(20)),
          PostgresCommand("LOCK TABLE \(store.own("gate")) IN SHARE ROW EXCLUSIVE MODE"),
          PostgresCommand("SELECT kind, name, \(current) FROM \(store.own("dropped")) LIMIT 100", schema),
        ], "remove dropped tables")
      guard let list = results.last, list.count > 0 else { return end(connection) }
      let used = try usedNames(connection)
      var refused = 0
      for row in 0..<list.count where refused < 4 {
        guard let note = PostgresDroppedNote(list, row) else { continue }
        let exists = note.matches(oid: list.text(row, 2)) && !used.contains(PostgresNaming.key(note.name))
        if try !remove(note, exists: exists, connection) { refused += 1 }
      }
      _ = try connection.run([PostgresCommand("COMMIT")], "remove dropped tables")
      pool.giveBack(connection)
    } catch {
      // The next transaction that drops something tries again.
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
  private func remove(_ note: PostgresDroppedNote, exists: Bool, _ connection: PostgresConnection) throws
    -> Bool
  {
    var parameters = PostgresParameters()
    parameters.add(text: note.name)
    parameters.add(text: note.kind)
    let drop = PostgresCommand("DROP \(note.isIndex ? "INDEX" : "TABLE") \(store.dialect.table(note.name))")
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

/// A table or an index that a transaction dropped from the catalog, and that waits to be removed.
///
/// Its name alone is no proof: somebody may have removed it by hand, and made another one of that name. So the kind has
/// the object's number too, as in `table 16401`. Earlier versions noted the kind alone.
private struct PostgresDroppedNote {
  /// The kind as the table has it.
  let kind: String
  let name: String

  init?(_ list: PostgresResult, _ row: Int) {
    guard let kind = list.text(row, 0), let name = list.text(row, 1) else { return nil }
    (self.kind, self.name) = (kind, name)
  }

  var isIndex: Bool { kind.hasPrefix("index") }

  /// Whether an object of the name, with a number, is the one that was dropped; nil is the number of none.
  func matches(oid: String?) -> Bool {
    guard let oid else { return false }
    return kind == "table" || kind == "index" || kind.hasSuffix(" " + oid)
  }
}
