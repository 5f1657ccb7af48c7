import PersistenceDriver
import PersistenceSQL

extension PostgresTransaction {
  func define(_ schema: ModelSchema) throws { try define(schema, defersIndexes: false) }

  func defineDeferringIndexes(_ schema: ModelSchema) throws { try define(schema, defersIndexes: true) }

  private func define(_ schema: ModelSchema, defersIndexes: Bool) throws {
    // Defining a known model again costs one lookup.
    let isKnown = try withSession { try $0.model(for: schema) != nil }
    if isKnown { return }
    try changingTables {
      var layout = try createTable(of: schema)
      if !defersIndexes { try build(Array(schema.indexes.indices), of: &layout) }
      try record(layout, replacing: nil)
    }
  }

  func buildIndexes(of schema: ModelSchema) throws -> Bool {
    guard var layout = try withSession({ try $0.model(for: schema)?.layout }),
      let first = layout.unbuilt.first
    else {
      return true
    }
    // One index for each transaction: a kill, or a cancellation, loses the work on one at most. Those of a new model are
    // built together.
    let isNew = layout.unbuilt.count == layout.indexes.count
    let numbers = isNew ? layout.unbuilt : [first]
    try changingTables {
      try build(numbers, of: &layout)
      try record(layout, replacing: schema.name)
    }
    return layout.unbuilt.isEmpty
  }

  func drop(_ schema: ModelSchema) throws {
    guard let layout = try withSession({ try $0.model(for: schema)?.layout }) else { return }
    try changingTables {
      try forget("table", layout.table)
      var name = PostgresParameters()
      name.add(.text(schema.name))
      try change(
        [PostgresCommand("DELETE FROM \(store.own("catalog")) WHERE model = $1", name)],
        "remove \(schema.name) from the catalog"
      ) { $0[StoredName(schema.name)] = nil }
    }
  }

  /// Creates the table of a model, without its indexes.
  func createTable(of schema: ModelSchema) throws -> PostgresLayout {
    var taken = try takenNames(like: [PostgresNaming.base(of: schema.name, fallback: "model")])
    let table = PostgresNaming.free(schema.name, fallback: "model", taken: &taken)
    var takenColumns = PostgresNaming.systemColumns
    let columns = schema.fields.map { PostgresNaming.free($0.name, fallback: "field", taken: &takenColumns) }
    let layout = PostgresLayout(schema: schema, table: table, columns: columns)
    let definition = PostgresDefinition(layout, store.dialect)
    try requireSupport(definition, schema)
    try run(PostgresCommand(definition.table), "create the table of \(schema.name)")
    return layout
  }

  func requireSupport(_ definition: PostgresDefinition, _ schema: ModelSchema) throws {
    func refuse(_ what: String) -> PersistenceError {
      PersistenceError.unsupported("store \(schema.name): \(what)", by: "PostgreSQL")
        .at(model: schema.name, location: store.location)
    }
    guard schema.fields.count <= 1_600 else {
      throw refuse("it has \(schema.fields.count) fields, and a table has 1,600 columns at most")
    }
    guard definition.leastRowSize <= 8_160 else {
      throw refuse(
        "a record takes \(definition.leastRowSize) bytes beside long values, and a row has 8,160 at most")
    }
    guard definition.widestIndex <= 32, schema.key.count <= 32 else {
      throw refuse("an index has \(definition.widestIndex) fields with those of the key, and 32 at most")
    }
  }

  /// Runs a statement that changes tables or the catalog.
  @discardableResult
  func run(_ command: PostgresCommand, _ action: String) throws -> PostgresResult {
    session.hasWritten = true
    return try session.run(command, action)
  }

  /// Those names of the schema's tables, indexes, views and types, which share one space, that are a base or one followed
  /// by a number.
  ///
  /// A name that waits to be removed is taken, although somebody may have removed its table by hand. A server may have
  /// many thousands of tables, so each base is a range of the indexes of their names, which are ordered by their bytes.
  func takenNames(like bases: [String]) throws -> Set<String> {
    var parameters = PostgresParameters()
    parameters.add(text: store.dialect.identifier(store.configuration.schema))
    var sources: [String] = []
    for base in bases {
      let first = parameters.count + 1
      parameters.add(text: base)
      // The colon follows the digits.
      parameters.add(text: "\(base)_:")
      func names(_ name: String, _ table: String, _ condition: String = "") -> String {
        "SELECT \(name)::text FROM \(table) WHERE \(name) >= $\(first)::name AND \(name) <= $\(first + 1)::name\(condition)"
      }
      sources += [
        names("relname", "pg_catalog.pg_class", " AND relnamespace = (SELECT $1::regnamespace::oid)"),
        names("typname", "pg_catalog.pg_type", " AND typnamespace = (SELECT $1::regnamespace::oid)"),
      ]
    }
    sources.append("SELECT name FROM \(store.own("dropped"))")
    let result = try session.run(
      PostgresCommand(sources.joined(separator: " UNION ALL "), parameters), "read the names of tables")
    return Set((0..<result.count).compactMap { result.text($0, 0) }.map(PostgresNaming.key))
  }

  /// Adds a layout to the catalog, or replaces that of a model.
  func record(_ layout: PostgresLayout, replacing old: String?) throws {
    let text = try layout.encoded()
    var commands: [PostgresCommand] = []
    if let old {
      var name = PostgresParameters()
      name.add(.text(old))
      commands.append(PostgresCommand("DELETE FROM \(store.own("catalog")) WHERE model = $1", name))
    }
    var entry = PostgresParameters()
    entry.add(.text(layout.schema.name))
    entry.add(text: text)
    commands.append(
      PostgresCommand("INSERT INTO \(store.own("catalog")) (model, layout) VALUES ($1, $2)", entry))
    try change(commands, "record \(layout.schema.name) in the catalog") { layouts in
      if let old { layouts[StoredName(old)] = nil }
      layouts[StoredName(layout.schema.name)] = text
    }
  }

  /// Changes the catalog, and gives it a new version.
  ///
  /// The step is random: a server that takes over after a loss of commits would give their versions once more.
  private func change(
    _ commands: [PostgresCommand], _ action: String, _ change: (inout [StoredName: String]) -> Void
  ) throws {
    session.hasWritten = true
    var step = PostgresParameters()
    step.add(Int64.random(in: 1...1 << 31))
    let version = PostgresCommand(
      "UPDATE \(store.own("state")) SET version = version + $1 RETURNING version", step)
    let results = try session.run(commands + [version], action)
    guard let number = results.last?.integer(0, 0) else {
      throw PersistenceError.damaged("the table persistence_state is empty").at(location: store.location)
    }
    var layouts = session.catalog.layouts
    change(&layouts)
    session.catalog = PostgresCatalog(version: number, layouts: layouts)
  }

  /// Leaves a table or an index, which readers may use, to be removed later.
  ///
  /// The note has its number too, so that another one of its name is never taken for it.
  func forget(_ kind: String, _ name: String) throws {
    var parameters = PostgresParameters()
    parameters.add(text: kind)
    parameters.add(text: name)
    parameters.add(text: store.dialect.table(name))
    try run(
      PostgresCommand(
        "INSERT INTO \(store.own("dropped")) (kind, name) SELECT $1 || ' ' || relation::oid::text, $2 "
          + "FROM pg_catalog.to_regclass($3) AS relation WHERE relation IS NOT NULL", parameters),
      "drop “\(name)”")
    hasDropped = true
  }
}
