import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// A change of schema as changes of one table.
///
/// Renames and an order of fields change the catalog only, and indexes are built beside the records. New fields become
/// columns with a default, unless readers hold the table for long. Any other change moves the records to a new table:
/// readers keep the old one, which no `ALTER TABLE` could change under them.
struct PostgresEvolution {
  let change: SchemaChange
  /// The layout before the change.
  let layout: PostgresLayout
  /// The columns of the stored fields, in the order of the change's stored schema.
  let storedColumns: [String]
  /// Whether the table has no records.
  let isEmpty: Bool
  /// Whether the records stay where they are.
  let keepsTable: Bool
  /// For each index of the target, the stored index that remains; nil for a new one.
  let origins: [Int?]

  /// Plans a change; throws if the store does not contain the stored schema, or contains the new name.
  init(_ change: SchemaChange, in session: PostgresSession) throws {
    let (stored, target) = (change.stored, change.target)
    let location = session.store.location
    guard let model = try session.model(for: stored) else {
      try session.verify()
      throw PersistenceError.schemaMismatch(
        model: stored.name, location: location, differences: ["\(stored.name): not in the store"])
    }
    let name = StoredName(target.name)
    if name != StoredName(stored.name), session.catalog.layouts[name] != nil {
      throw PersistenceError.schemaMismatch(
        model: target.name, location: location, differences: ["\(target.name): already in the store"])
    }
    self.change = change
    layout = model.layout
    storedColumns = model.table.columns.map(\.name)
    let table = session.store.dialect.table(layout.table)
    isEmpty =
      try session.run(PostgresCommand("SELECT 1 FROM \(table) LIMIT 1"), "look for records").count == 0
    // The indexes in the order of the layout, which may differ from the declared one.
    let layout = layout
    origins = change.indexOrigins.map { origin in
      origin.flatMap { layout.schema.indexes.firstIndex(of: stored.indexes[$0]) }
    }
    let kept = Set(origins.compactMap(\.self))
    // A unique index that goes must not reject records any more, and readers may be in its way.
    let losesUnique = layout.schema.indexes.indices.contains {
      layout.schema.indexes[$0].isUnique && !kept.contains($0) && layout.indexes[$0].name != nil
    }
    keepsTable = Self.keepsColumns(change) && !losesUnique
  }

  /// Whether each field has the values of one stored field, unchanged, or one value, and no stored field is left over.
  private static func keepsColumns(_ change: SchemaChange) -> Bool {
    var unused = Set(change.stored.fields.indices)
    for (field, source) in zip(change.target.fields, change.sources) {
      if case .fill = source { continue }
      guard case .field(let origin, nil) = source, unused.remove(origin) != nil,
        field.isOptional == change.stored.fields[origin].isOptional,
        field.kind.tag == change.stored.fields[origin].kind.tag
      else { return false }
    }
    return unused.isEmpty
  }

  /// The positions in the target of the indexes that the change builds, if it keeps the table.
  var missing: [Int] {
    origins.indices.filter { origins[$0] == nil && !change.mayDefer(change.target.indexes[$0]) }
  }

  var cost: EvolutionCost {
    if isEmpty { return .catalog }
    if !keepsTable { return .rewrite }
    return missing.isEmpty ? .catalog : .indexes
  }
}

extension PostgresTransaction {
  func evolve(_ change: SchemaChange) throws {
    let evolution = try withSession { try PostgresEvolution(change, in: $0) }
    guard change.compute == nil else { return try evolveByCopying(change) }
    try changingTables {
      try closeCursors()
      try StoreProgress.report(0)
      if let columns = try evolution.keepsTable ? keptColumns(evolution) : nil {
        try keepTable(evolution, columns)
      } else {
        try moveRecords(evolution)
      }
    }
  }

  /// The columns of the target's fields, of which it adds the new ones; nil if readers are in the way of these.
  private func keptColumns(_ evolution: PostgresEvolution) throws -> [String]? {
    let change = evolution.change
    let dialect = store.dialect
    var taken = PostgresNaming.systemColumns.union(evolution.layout.columns.map(PostgresNaming.key))
    var additions: [String] = []
    var defaults: [String] = []
    let columns = zip(change.target.fields, change.sources).map { field, source in
      switch source {
      case .field(let origin, _): return evolution.storedColumns[origin]
      case .fill, .computed:
        let name = PostgresNaming.free(field.name, fallback: "field", taken: &taken)
        var clause = "ADD COLUMN \(dialect.identifier(name)) \(field.kind.postgresType)"
        if case .fill(let value) = source, !value.isNull {
          clause += " DEFAULT \(PostgresLiteral.text(of: value))"
          defaults.append("ALTER COLUMN \(dialect.identifier(name)) DROP DEFAULT")
        }
        additions.append(clause)
        return name
      }
    }
    guard !additions.isEmpty else { return columns }
    let layout = PostgresLayout(schema: change.target, table: evolution.layout.table, columns: columns)
    try requireSupport(PostgresDefinition(layout, dialect), change.target)
    let table = dialect.table(evolution.layout.table)
    session.hasWritten = true
    for _ in 0..<4 {
      _ = try session.run(.lockTimeout(.milliseconds(50)), "wait for readers")
      do {
        _ = try guarded(
          PostgresCommand("ALTER TABLE \(table) \(additions.joined(separator: ", "))"),
          "add fields to \(change.target.name)")
        if !defaults.isEmpty {
          try run(
            PostgresCommand("ALTER TABLE \(table) \(defaults.joined(separator: ", "))"),
            "add fields to \(change.target.name)")
        }
        try waitUntilDeadline()
        return columns
      } catch let error as PersistenceError where error.isPostgres("55P03") {
        Thread.sleep(forTimeInterval: 0.02)
      }
    }
    try waitUntilDeadline()
    return nil
  }

  private func keepTable(_ evolution: PostgresEvolution, _ columns: [String]) throws {
    let (change, old) = (evolution.change, evolution.layout)
    var layout = PostgresLayout(schema: change.target, table: old.table, columns: columns)
    for (number, origin) in evolution.origins.enumerated() {
      if let origin { layout.indexes[number] = old.indexes[origin] }
    }
    let kept = Set(evolution.origins.compactMap(\.self))
    for (number, index) in old.indexes.enumerated() where !kept.contains(number) {
      if let name = index.name { try forget("index", name) }
    }
    try build(evolution.missing, of: &layout)
    try record(layout, replacing: change.stored.name)
  }

  private func moveRecords(_ evolution: PostgresEvolution) throws {
    let change = evolution.change
    var layout = try createTable(of: change.target)
    try copy(evolution, to: layout)
    try build(Array(layout.indexes.indices), of: &layout)
    try forget("table", evolution.layout.table)
    try record(layout, replacing: change.stored.name)
  }

  /// Copies records in the server, some pages of the table at a time, so that progress is reported and the work can be
  /// cancelled.
  private func copy(_ evolution: PostgresEvolution, to layout: PostgresLayout) throws {
    guard !evolution.isEmpty else { return }
    let dialect = store.dialect
    let source = dialect.table(evolution.layout.table)
    var values = PostgresParameters()
    func parameter(_ value: PersistentValue, _ kind: FieldKind) -> String {
      guard !value.isNull else { return "NULL::\(kind.postgresType)" }
      values.add(value)
      return "$\(values.count)"
    }
    let columns = zip(evolution.change.sources, layout.schema.fields).map { source, field in
      switch source {
      case .field(let origin, nil): dialect.identifier(evolution.storedColumns[origin])
      case .field(let origin, let replacement?):
        "coalesce(\(dialect.identifier(evolution.storedColumns[origin])), \(parameter(replacement, field.kind)))"
      case .fill(let value): parameter(value, field.kind)
      case .computed: "NULL::\(field.kind.postgresType)"
      }
    }
    var name = PostgresParameters()
    name.add(text: source)
    let size = try session.run(
      PostgresCommand(
        "SELECT pg_catalog.pg_relation_size($1::regclass) / pg_catalog.current_setting('block_size')::int8",
        name),
      "measure a table")
    let pages = size.integer(0, 0) ?? 0
    let targets = layout.columns.map(dialect.identifier).joined(separator: ", ")
    var (page, done) = (Int64(0), 0)
    while page < pages {
      // A page has fewer than 300 rows.
      let end = page + 3
      let rows = "ctid >= '(\(page),0)'::tid AND ctid < '(\(end),0)'::tid"
      let result = try run(
        PostgresCommand(
          "INSERT INTO \(dialect.table(layout.table)) (\(targets)) SELECT \(columns.joined(separator: ", ")) "
            + "FROM \(source) WHERE \(rows)", values), "copy the records of \(layout.schema.name)")
      done += result.changes
      page = end
      try StoreProgress.report(done)
    }
  }
}
