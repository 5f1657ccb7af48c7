import PersistenceDriver
import PersistencePrimitives
import PersistenceSQL

/// What distinguishes a schema of other programs from a store of this package.
struct PostgresForeignSchema: Sendable {
  /// The rowset with the version of the catalog.
  let state: String
  /// The statements that read that version.
  let versionQueries: PostgresVersionQueries
  /// The views that are models, with the column that identifies their rows; nil where none does.
  let viewKeys: [StoredName: String?]

  init(state: String, viewKeys: [StoredName: String?] = [:]) {
    (self.state, self.viewKeys) = (state, viewKeys)
    versionQueries = PostgresVersionQueries(of: state)
  }
}

extension PostgresStore {
  /// Whether the schema belongs to other programs.
  var isForeign: Bool { foreign != nil }

  /// The rowset with the version of the catalog, in a column `version`.
  var state: String { foreign?.state ?? own("state") }

  /// The statements that read the version of the catalog.
  var versionQueries: PostgresVersionQueries { foreign?.versionQueries ?? ownVersionQueries }

  /// The rowset with the version of another program's schema: a digest of the rows of the server's own catalog, which
  /// each change of a table replaces.
  var foreignState: String {
    let relation = "pg_catalog.pg_class c WHERE c.relnamespace = \(namespace)"
    func part(_ number: String, _ row: String, _ seed: String, _ source: String) -> String {
      "SELECT pg_catalog.hashint8extended(\(number)::int8 << 32 | \(row).xmin::text::int8, \(seed)) AS part "
        + "FROM \(source)"
    }
    let parts = [
      part("c.oid", "c", "1", relation),
      part(
        "a.attrelid", "a", "a.attnum",
        "pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid AND a.attnum > 0 "
          + "WHERE c.relnamespace = \(namespace)"),
      part(
        "i.indexrelid", "i", "2",
        "pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid "
          + "WHERE c.relnamespace = \(namespace)"),
      part("k.oid", "k", "3", "pg_catalog.pg_constraint k WHERE k.connamespace = \(namespace)"),
      part(
        "t.oid", "t", "4",
        "pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid "
          + "WHERE c.relnamespace = \(namespace)"),
      part(
        "a.attrelid", "d", "a.attnum + 65536",
        "pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid AND a.attnum > 0 "
          + "JOIN pg_catalog.pg_type d ON d.oid = a.atttypid AND d.typtype = 'd' "
          + "WHERE c.relnamespace = \(namespace)"),
    ]
    return "(SELECT coalesce(pg_catalog.bit_xor(part), 0) AS version FROM "
      + "(\(parts.joined(separator: " UNION ALL "))) AS parts) AS state"
  }

  /// The number of the schema in the server's catalog.
  private var namespace: String {
    "(SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = "
      + "\(PostgresLiteral.text(of: .text(configuration.schema))))"
  }

  /// The statement that describes the tables and views of the schema, without those that belong to an extension.
  var relations: PostgresCommand { PostgresCommand(PostgresForeignCatalog.text(namespace)) }

  /// The catalog of another program's schema in the results of ``catalogCommands``.
  func foreignCatalog(_ results: ArraySlice<PostgresResult>) throws -> PostgresCatalog {
    guard let state = results.first, let relations = results.last, let version = state.integer(0, 0) else {
      throw PersistenceError(.engineFailure, "PostgreSQL did not describe its tables", location: location)
    }
    var catalog = PostgresCatalog(version: version, layouts: [:])
    for row in 0..<relations.count {
      guard let name = relations.text(row, 0), let text = relations.text(row, 1) else { continue }
      try add(StoredName(name), text, to: &catalog)
    }
    return catalog
  }

  private func add(_ name: StoredName, _ text: String, to catalog: inout PostgresCatalog) throws {
    let relation = try relation(text)
    if relation.isView, foreign?.viewKeys[name] == nil {
      catalog.others[name] = text
      return
    }
    do {
      _ = try foreignTable(name, text)
      catalog.layouts[name] = text
      catalog.hasSideEffects = catalog.hasSideEffects || relation.hasSideEffects
    } catch let error as PersistenceError where error.code == .unsupported {
      catalog.others[name] = text
      catalog.rejected[name] = error
    }
  }

  /// The table of a definition, which the caches share as long as it is the same.
  func foreignTable(_ name: StoredName, _ text: String) throws -> PostgresTable {
    try table(name, definedBy: text) {
      let viewKey = (foreign?.viewKeys[name]).flatMap(\.self)
      return try PostgresForeignTable(name.text, relation(text), viewKey: viewKey, self).table(
        definition: text)
    }
  }

  func relation(_ text: String) throws -> PostgresForeignRelation {
    do {
      return try PostgresForeignRelation(text)
    } catch {
      throw PersistenceError(
        .engineFailure, "PostgreSQL's description of a table cannot be read (\(error))", location: location)
    }
  }
}
