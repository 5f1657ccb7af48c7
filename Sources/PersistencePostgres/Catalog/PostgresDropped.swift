import PersistenceDriver
import PersistenceSQL

/// The tables and indexes that transactions have dropped from the catalog, and that wait to be removed.
///
/// The table `persistence_dropped` has a note for each: its kind with its number, as in `table 16401`, and its name. A
/// comment marks it too, because a restored copy of a database has other numbers and the same comments.
enum PostgresDropped {
  /// The comment on what was dropped.
  static let comment = "This package no longer uses it, and removes it when no reader is in the way."

  /// The notes, each with the relation that has its name now; the first parameter is the name of the schema, quoted.
  static func notes(_ store: PostgresStore) -> String {
    "\(store.own("dropped")) "
      + "CROSS JOIN pg_catalog.to_regclass($1 || '.' || pg_catalog.quote_ident(name)) AS relation"
  }

  /// The condition that a note means the relation with a number.
  ///
  /// Its name alone is no proof: somebody may have removed it by hand, and made another one of that name. Earlier versions
  /// noted the kind alone.
  static func means(_ number: String) -> String {
    "(kind IN ('table', 'index') OR kind LIKE '% ' || \(number)::text "
      + "OR pg_catalog.obj_description(\(number), 'pg_class') = '\(comment)')"
  }
}

/// A dropped index, which the server fills until it is removed: it refuses values that have no room in an entry.
struct PostgresDroppedIndex: Sendable {
  let name: String
  /// The table, by ``PostgresNaming/key(_:)``.
  let table: String
  /// The columns whose whole values are in its entries.
  var columns: Set<String>
}

extension PostgresTransaction {
  /// Removes the dropped indexes in which the values of a record have no room, as ``widen(_:of:)`` removes others.
  func removeDroppedIndexes(refusing sizes: [Int], of model: PostgresModel) throws {
    let table = PostgresNaming.key(model.layout.table)
    func refuses(_ index: PostgresDroppedIndex) -> Bool {
      guard index.table == table else { return false }
      let entry = zip(model.table.columns, sizes).reduce(0) { size, value in
        size + (index.columns.contains(value.0.name) ? value.1 : 0)
      }
      return entry > Capabilities.postgresKeyLimit
    }
    let known = try store.droppedIndexes(at: session.catalog.version, readDroppedIndexes)
    guard known.contains(where: refuses) else { return }
    try changingTables {
      try closeCursors()
      // Another context may have removed some of them.
      let names = try readDroppedIndexes().filter(refuses).map(\.name)
      for name in names { try removeIndex(name) }
      let notes = names.map { name in
        var parameters = PostgresParameters()
        parameters.add(text: name)
        return PostgresCommand(
          "DELETE FROM \(store.own("dropped")) WHERE name = $1 AND kind LIKE 'index%'", parameters)
      }
      // What is known of dropped indexes belongs to a version of the catalog, so this needs a new one.
      try change(notes, "remove dropped indexes of \(model.schema.name)") { _ in }
    }
  }

  private func readDroppedIndexes() throws -> [PostgresDroppedIndex] {
    var schema = PostgresParameters()
    schema.add(text: store.dialect.identifier(store.configuration.schema))
    let rows = try session.run(
      PostgresCommand(
        "SELECT name, t.relname::text, a.attname::text FROM \(PostgresDropped.notes(store)) "
          + "JOIN pg_catalog.pg_index AS x ON x.indexrelid = relation::oid "
          + "JOIN pg_catalog.pg_class AS t ON t.oid = x.indrelid "
          + "JOIN pg_catalog.pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = ANY (x.indkey) "
          + "WHERE kind LIKE 'index%' AND \(PostgresDropped.means("relation::oid")) ORDER BY name", schema),
      "read the dropped indexes")
    var indexes: [PostgresDroppedIndex] = []
    for row in 0..<rows.count {
      guard let name = rows.text(row, 0), let table = rows.text(row, 1), let column = rows.text(row, 2) else {
        continue
      }
      if indexes.last?.name == name {
        indexes[indexes.count - 1].columns.insert(column)
      } else {
        indexes.append(PostgresDroppedIndex(name: name, table: PostgresNaming.key(table), columns: [column]))
      }
    }
    return indexes
  }
}
