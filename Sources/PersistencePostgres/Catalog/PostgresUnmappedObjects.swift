import PersistenceDriver
import PersistenceSQL

extension PostgresSession {
  /// The objects of the store's schema that models do not represent.
  func unmappedObjects() throws -> [UnmappedObject] {
    try verify()
    if store.isForeign { return try foreignUnmappedObjects() }
    var parameters = PostgresParameters()
    parameters.add(text: store.dialect.identifier(store.configuration.schema))
    let result = try run(
      PostgresCommand(
        "SELECT c.relname::text, c.relkind::text, d.name IS NOT NULL, "
          + "CASE WHEN c.relkind IN ('v', 'm') THEN pg_catalog.pg_get_viewdef(c.oid) END, t.tgname::text, "
          + "CASE WHEN t.oid IS NOT NULL THEN pg_catalog.pg_get_triggerdef(t.oid) END "
          + "FROM pg_catalog.pg_class c LEFT JOIN \(store.own("dropped")) d "
          + "ON d.kind IN ('table', 'table ' || c.oid::text) AND d.name = c.relname "
          + "LEFT JOIN pg_catalog.pg_trigger t ON t.tgrelid = c.oid AND NOT t.tgisinternal "
          + "WHERE c.relnamespace = (SELECT $1::regnamespace::oid) AND c.relkind IN ('r', 'p', 'f', 'v', 'm') ORDER BY 1, 5",
        parameters),
      "list the tables and views")
    var models: [String: String] = [:]
    for name in catalog.layouts.keys {
      guard let table = try store.table(name, in: catalog) else { continue }
      models[PostgresNaming.key(table.layout.table)] = name.text
    }
    var objects: [UnmappedObject] = []
    for row in 0..<result.count {
      guard let name = result.text(row, 0), result.integer(row, 2) == 0,
        !name.utf8.starts(with: "persistence_".utf8)
      else { continue }
      let model = models[PostgresNaming.key(name)]
      if let trigger = result.text(row, 4) {
        objects.append(UnmappedObject(.trigger, trigger, model: model, detail: result.text(row, 5) ?? ""))
      }
      guard model == nil, objects.last?.name != name else { continue }
      if let view = result.text(row, 3) {
        objects.append(UnmappedObject(.view, name, detail: view))
      } else {
        objects.append(
          UnmappedObject(.table, name, detail: "another program made the table, which a copy leaves out"))
      }
    }
    return objects
  }
}
