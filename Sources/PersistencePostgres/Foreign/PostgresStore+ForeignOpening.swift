import PersistenceDriver
import PersistencePrimitives
import PersistenceSQL

extension PostgresStore {
  /// Whether the schema belongs to other programs: as the configuration says, otherwise if it contains tables and no store.
  func belongsToOthers(_ connection: PostgresConnection, hasStore: Bool) throws -> Bool {
    let hasViews = !configuration.includedViews.isEmpty
    let isForced = configuration.isForeign == true
    guard !hasStore else {
      guard isForced || hasViews else { return false }
      throw PersistenceError(
        .unsupported,
        "the schema “\(configuration.schema)” contains a store of this package; open it without the options foreign and "
          + "views, or open another schema", location: location)
    }
    if let isForeign = configuration.isForeign, !isForeign { return false }
    var schema = PostgresParameters(isForeign: true)
    schema.add(text: configuration.schema)
    schema.add(text: own("catalog"))
    let tables =
      "SELECT 1 FROM pg_catalog.pg_class c WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'f', 'v', 'm') "
      + "AND c.relname::text !~ '^persistence_'::text AND \(PostgresForeignCatalog.belongsToNoExtension)"
    let found = try connection.run(
      [
        PostgresCommand(
          "SELECT EXISTS (\(tables)) AND pg_catalog.to_regclass($2) IS NULL FROM pg_catalog.pg_namespace n "
            + "WHERE n.nspname = $1", schema)
      ], "look for tables")
    let hasTables = found.first.map { $0.count > 0 && $0.integer(0, 0) == 1 } ?? false
    if isForced, found.first?.count == 0 {
      throw PersistenceError(
        .missingStore, "the schema “\(configuration.schema)” does not exist; correct the option schema",
        location: location)
    }
    return isForced || hasTables
  }

  /// Opens the schema as one of other programs, and finds the columns that identify the rows of the views.
  func openForeignSchema(_ connection: PostgresConnection) throws {
    foreign = PostgresForeignSchema(state: foreignState)
    guard !configuration.includedViews.isEmpty else { return }
    let others = try readCatalog(connection).others
    var viewKeys: [StoredName: String?] = [:]
    for view in configuration.includedViews {
      guard let text = others[StoredName(view)], let relation = try? relation(text), relation.isView else {
        throw PersistenceError(
          .invalidRequest,
          "the schema “\(configuration.schema)” contains no view “\(view)”; correct the option views",
          location: location)
      }
      viewKeys[StoredName(view)] = try key(of: view, relation, connection)
    }
    foreign = PostgresForeignSchema(state: foreignState, viewKeys: viewKeys)
    catalog = nil
  }

  /// The first column of a view that has a different value in each row; nil if there is none.
  private func key(of view: String, _ relation: PostgresForeignRelation, _ connection: PostgresConnection)
    throws
    -> String?
  {
    for column in relation.columns {
      guard let type = PostgresForeignType(column), type.kind.isKey else { continue }
      let value = dialect.ordered(PostgresForeignColumn(column, type, isOptional: true).sql)
      // A view may call functions that write.
      let counts = try connection.runReading(
        [
          PostgresCommand(
            "SELECT pg_catalog.count(*) = pg_catalog.count(DISTINCT \(value)) FROM \(dialect.table(view))")
        ], "look for the key of a view")
      if counts.first?.integer(0, 0) == 1 { return column.name }
    }
    return nil
  }
}
