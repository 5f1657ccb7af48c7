import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// A change of schema as changes of one table.
///
/// New columns have their fills as defaults, which SQLite reads where a record is older than the column. Renames and
/// reordering only change the layout, and the columns keep their names.
struct SQLiteEvolution {
  /// A column that `ALTER TABLE` adds.
  struct AddedColumn {
    var name: String
    var type: String
    var fill: PersistentValue
    /// The fill as SQL; nil for NULL.
    var literal: String?
  }

  let change: SchemaChange
  /// The layout before the change.
  let layout: SQLiteLayout
  /// The layout after the change; it awaits ``missingIndexes``, and the indexes that wait longer.
  private(set) var target: SQLiteLayout
  /// The columns of the stored fields, in the order of the change's stored schema.
  let storedColumns: [String]
  /// The columns that other programs have added to the table.
  let foreignColumns: [String]
  let isEmpty: Bool
  /// Whether the table is clustered, which a change keeps.
  let isClustered: Bool
  private(set) var added: [AddedColumn] = []
  /// The columns of computed fields, in the order of the fields.
  private(set) var computed: [String] = []
  /// The columns in which a value replaces NULL.
  private(set) var replacements: [(column: String, value: PersistentValue)] = []
  /// Whether the records move to a new table.
  private(set) var needsNewTable: Bool
  let droppedIndexes: [IndexSchema]
  /// The indexes that the change builds.
  let missingIndexes: [IndexSchema]

  var cost: EvolutionCost {
    if isEmpty { return .catalog }
    if needsNewTable || !replacements.isEmpty || !computed.isEmpty { return .rewrite }
    return missingIndexes.isEmpty ? .catalog : .indexes
  }

  /// Plans a change of a table on a connection that has an open transaction.
  init(_ change: SchemaChange, of layout: SQLiteLayout, on connection: SQLiteConnection) throws {
    let dialect = SQLiteDialect()
    self.change = change
    self.layout = layout
    let stored = change.stored.fields.compactMap { field in
      layout.schema.position(of: field.name).map { layout.columns[$0] }
    }
    storedColumns = stored
    isEmpty = try connection.rows("SELECT 1 FROM \(dialect.table(layout.table)) LIMIT 1").isEmpty
    isClustered =
      try SQLiteClustering.isPossible(for: layout.schema) && !connection.hasRowIDs(layout.table)
    let existing = try connection.foreignColumns(of: layout.table)
    let own = Set(layout.columns.map(SQLiteNaming.folded))
    foreignColumns = existing.map(\.name).filter { !own.contains(SQLiteNaming.folded($0)) }
    let notNull = Set(existing.filter { !$0.isNullable }.map { SQLiteNaming.folded($0.name) })
    let (columns, isErasing) = Self.columns(of: change, stored, besides: existing.map(\.name))
    needsNewTable = isErasing

    let unbuilt = layout.unbuiltIndexes
    let origins = change.indexOrigins
    let kept = Set(origins.compactMap(\.self))
    droppedIndexes = change.stored.indexes.enumerated().filter {
      !kept.contains($0.offset) && !unbuilt.contains($0.element)
    }.map(\.element)
    target = SQLiteLayout(schema: change.target, table: layout.table, columns: columns)
    target.format = isClustered ? SQLiteLayout.clusteredFormat : SQLiteLayout.evolvedFormat
    for (position, source) in change.sources.enumerated() {
      let (field, column) = (change.target.fields[position], columns[position])
      switch source {
      case .field(let origin, let replacement):
        let isCopied = column != stored[origin]
        if isCopied || (field.isOptional && notNull.contains(SQLiteNaming.folded(column))) {
          needsNewTable = true
        }
        if let replacement, try connection.hasNull(in: stored[origin], of: layout.table) {
          replacements.append((column, replacement))
        }
      case .fill(let value):
        let literal = try value.isNull ? nil : connection.literal(value)
        if literal == nil, !value.isNull { needsNewTable = true }
        added.append(AddedColumn(name: column, type: field.kind.sqliteType, fill: value, literal: literal))
      case .computed:
        added.append(AddedColumn(name: column, type: field.kind.sqliteType, fill: .null))
        computed.append(column)
      }
    }
    // Triggers of other programs do not fire for a change of schema.
    let updates = computed.count + replacements.count
    if try updates > 0 && connection.hasTriggers(on: layout.table) { needsNewTable = true }
    let needsNewTable = needsNewTable
    let isRewriting = needsNewTable || !computed.isEmpty
    let awaited = change.target.indexes.indices.filter { position in
      guard !needsNewTable, let origin = origins[position] else { return true }
      return unbuilt.contains(change.stored.indexes[origin])
    }
    missingIndexes = awaited.filter { position in
      let index = change.target.indexes[position]
      if isRewriting || index.isUnique { return true }
      return origins[position] == nil ? !change.mayDefer(index) : layout.awaitsAllIndexes
    }.map { change.target.indexes[$0] }
    target.unbuilt = awaited
  }

  /// Throws if the records have to move to a new table, which would not have the columns of other programs.
  func requireNoLoss(location: String) throws {
    guard needsNewTable, !foreignColumns.isEmpty else { return }
    let names = foreignColumns.map { "“\($0)”" }.joined(separator: ", ")
    throw PersistenceError(
      .schemaMismatch,
      "the change of \(change.stored.name) moves its records to a new table, which would lose columns that another "
        + "program has added to the table “\(layout.table)”: \(names); nothing was changed: copy what they hold to "
        + "another table, remove them with ALTER TABLE … DROP COLUMN, and repeat the change",
      model: change.stored.name, location: location)
  }

  /// The columns of the target's fields, and whether a stored column is erased.
  ///
  /// A field keeps its source's column, the key's fields first; other fields get new ones.
  private static func columns(of change: SchemaChange, _ stored: [String], besides existing: [String])
    -> (columns: [String], isErasing: Bool)
  {
    var kept: [Int: String] = [:]
    var unused = Set(stored.indices)
    for position in change.target.keyPositions + Array(change.sources.indices) where kept[position] == nil {
      guard case .field(let origin, _) = change.sources[position], unused.remove(origin) != nil else {
        continue
      }
      kept[position] = stored[origin]
    }
    var taken = Set((unused.isEmpty ? existing : Array(kept.values)).map(SQLiteNaming.folded))
    let columns = change.target.fields.enumerated().map { position, field in
      kept[position] ?? SQLiteNaming.free(field.name, fallback: "field", taken: &taken)
    }
    return (columns, !unused.isEmpty)
  }
}

extension SQLiteConnection {
  /// The layout of a model that this package defined; nil if the file does not hold the model.
  func ownLayout(of schema: ModelSchema) throws -> SQLiteLayout? {
    guard try model(for: schema) != nil else { return nil }
    guard let text = catalog?.layouts[StoredName(schema.name)] else {
      throw PersistenceError(
        .unsupported,
        "another program made the table of \(schema.name); use that program to change or remove it",
        model: schema.name, location: store.location)
    }
    return try SQLiteLayout.read(text)
  }

  /// Plans a change of schema; throws if the store does not contain the stored schema, or contains the new name.
  func evolution(for change: SchemaChange) throws -> SQLiteEvolution {
    let (stored, target) = (change.stored, change.target)
    guard let layout = try ownLayout(of: stored) else {
      throw PersistenceError.schemaMismatch(
        model: stored.name, location: store.location, differences: ["\(stored.name): not in the store"])
    }
    let name = StoredName(target.name)
    if name != StoredName(stored.name),
      catalog?.layouts[name] != nil || catalog?.tables[name] != nil || catalog?.rejected[name] != nil
    {
      throw PersistenceError.schemaMismatch(
        model: target.name, location: store.location, differences: ["\(target.name): already in the store"])
    }
    try requireSupportedFieldCount(target)
    return try SQLiteEvolution(change, of: layout, on: self)
  }

  fileprivate func hasTriggers(on table: String) throws -> Bool {
    try !rows(
      "SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE LIMIT 1",
      [.text(table)]
    ).isEmpty
  }

  fileprivate func hasNull(in column: String, of table: String) throws -> Bool {
    let dialect = SQLiteDialect()
    let (column, table) = (dialect.identifier(column), dialect.table(table))
    return try !rows("SELECT 1 FROM \(table) WHERE \(column) IS NULL LIMIT 1").isEmpty
  }

  /// A value as SQL for a `DEFAULT` clause; nil if no literal is exact, as for text that contains U+0000.
  fileprivate func literal(_ value: PersistentValue) throws -> String? {
    let literal: String
    switch value {
    case .double(let number) where number.isInfinite, .date(let number) where number.isInfinite:
      literal = number < 0 ? "-9e999" : "9e999"
    default:
      guard case .text(let quoted)? = try rows("SELECT quote(?1)", [value]).first?.first else { return nil }
      literal = quoted
    }
    // SQLite parses the whole schema on opening, and limits the length of a statement.
    guard literal.utf8.count <= 65_536 else { return nil }
    let test = "SELECT \(literal) IS ?1 AND typeof(\(literal)) = typeof(?1)"
    return try rows(test, [value]) == [[.integer(1)]] ? literal : nil
  }
}
