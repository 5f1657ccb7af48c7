import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL

/// A table that holds a model, with a cache of the declarations that have been used with it.
final class SQLiteTable: Sendable {
  /// The schema of the model in the file.
  let schema: ModelSchema

  /// The table's name in the file.
  let name: String

  /// The columns, in the order of the stored fields.
  let columns: [SQLColumn]

  /// The name of the row ID; nil where rows have none.
  let rowID: String?

  /// The definition in the file, to detect changes.
  let definition: String

  let isForeign: Bool

  /// Whether its definition has `ON CONFLICT` clauses.
  let hasConflictClauses: Bool

  /// What a survey found about columns that their declared types do not say, by name.
  let findings: [String: String]

  private let models = Lock<[SQLiteModel]>([])

  /// How many declarations to cache; programs that make thousands of schemas make equal ones.
  private static let modelLimit = 200

  init(
    schema: ModelSchema, name: String, columns: [SQLColumn], rowID: String?, definition: String,
    isForeign: Bool = false, hasConflictClauses: Bool = false, findings: [String: String] = [:]
  ) {
    self.schema = schema
    self.name = name
    self.columns = columns
    self.rowID = rowID
    self.definition = definition
    self.isForeign = isForeign
    self.hasConflictClauses = hasConflictClauses
    self.findings = findings
  }

  /// A declaration mapped to this table; throws if it contradicts the table.
  func model(for declared: ModelSchema, store: SQLiteStore) throws -> SQLiteModel {
    let identity = declared.identity
    let known = models.withLock { models in models.first { $0.schema.identity == identity } }
    if let known { return known }
    // A program that makes its schema anew each time shares the model of the first, equal schema.
    let equal = models.withLock { models in models.first { $0.schema == declared } }
    if let equal { return equal }
    try declared.requireCompatible(with: schema, location: store.location)
    let model = SQLiteModel(declared, in: mapped(to: declared), number: store.nextModelNumber())
    models.withLock { models in
      if models.count >= Self.modelLimit { models.removeAll() }
      models.append(model)
    }
    return model
  }

  private func mapped(to declared: ModelSchema) -> SQLTable {
    SQLTable(
      name: name,
      columns: declared.fields.compactMap { field in schema.position(of: field.name).map { columns[$0] } },
      key: declared.keyPositions,
      indexes: declared.indexes.map { $0.fields.compactMap { declared.position(of: $0) } },
      rowID: rowID, isForeign: isForeign, hasConflictClauses: hasConflictClauses)
  }
}

/// A declaration of a model, mapped to its table.
final class SQLiteModel: @unchecked Sendable {  // immutable after init
  /// The declared schema; keeping it keeps its identity unique.
  let schema: ModelSchema

  /// The table, with its columns in the order of the declared fields.
  let table: SQLTable

  let cells: [SQLiteCellReader]

  let columns: SQLiteColumns

  /// The number of this declaration in statement keys.
  let number: UInt32

  /// The positions of the columns that turn texts that look like numbers into numbers.
  let textConverters: [Int]

  /// Whether ``save`` only updates: the key's index may find a record with other bytes, which an upsert would replace.
  let savesByUpdate: Bool

  /// The keys of statements over one record, or all.
  let find, insert, update, save, deleteKey, deleteAll: StatementKey

  init(_ schema: ModelSchema, in table: SQLTable, number: UInt32) {
    self.schema = schema
    self.table = table
    self.number = number
    cells = schema.fields.map { field in
      SQLiteCellReader(tag: field.kind.tag, isOptional: field.isOptional, checksText: table.isForeign)
    }
    columns = SQLiteColumns(all: cells)
    textConverters = table.columns.indices.filter { table.columns[$0].convertsText }
    savesByUpdate = table.key.contains {
      let column = table.columns[$0]
      // The key's index may have another collation than its column.
      return column.comparison == .byBytes || column.convertsText
        || (table.isForeign && column.kind != .int64)
    }
    find = StatementKey(.find, model: number)
    insert = StatementKey(.insert, model: number)
    update = StatementKey(.update, model: number)
    save = StatementKey(savesByUpdate ? .update : .save, model: number)
    deleteKey = StatementKey(.deleteKey, model: number)
    deleteAll = StatementKey(.deleteAll, model: number)
  }
}

/// The columns of a statement's rows: their fields, and how to read them.
final class SQLiteColumns: @unchecked Sendable {  // immutable after init; `readers` is freed with it
  /// The position of each column's field.
  let positions: [Int]

  /// The columns as items of a statement key; empty for all fields.
  let items: [SQLItem]

  /// How many columns the caller's rows have; further ones are for this package's own use.
  let selectedCount: Int

  /// The reader of each column.
  let readers: UnsafeBufferPointer<SQLiteCellReader>

  /// All fields of a model.
  init(all cells: [SQLiteCellReader]) {
    positions = Array(cells.indices)
    items = []
    selectedCount = cells.count
    readers = Self.copy(cells)
  }

  /// Some fields of a model: those of the caller's rows, which may contain duplicates, and others, such as the order's.
  init(_ selected: [Int], and others: [Int], of cells: [SQLiteCellReader]) {
    positions = selected + others.filter { !selected.contains($0) }
    items = positions.map { SQLItem(.field, $0) }
    selectedCount = selected.count
    readers = Self.copy(positions.map { cells[$0] })
  }

  deinit { readers.deallocate() }

  /// The columns that hold fields.
  func columns(of fields: [Int]) -> [Int] { fields.compactMap { positions.firstIndex(of: $0) } }

  private static func copy(_ readers: [SQLiteCellReader]) -> UnsafeBufferPointer<SQLiteCellReader> {
    let copy = UnsafeMutableBufferPointer<SQLiteCellReader>.allocate(capacity: readers.count)
    _ = copy.initialize(from: readers)
    return UnsafeBufferPointer(copy)
  }
}

extension SQLiteConnection {
  /// A declaration mapped to its table; nil where the file does not hold the model.
  func model(for schema: ModelSchema) throws -> SQLiteModel? {
    if let known = knownModel(for: schema) { return known }
    guard let table = try table(StoredName(schema.name)) else { return nil }
    let model = try table.model(for: schema, store: store)
    if models.count >= Self.modelLimit { discardModels() }
    models.append((schema, model))
    lastModel = (schema.identity, model)
    return model
  }

  /// The same, if this connection has used the declaration under the current catalog.
  func knownModel(for schema: ModelSchema) -> SQLiteModel? {
    let identity = schema.identity
    if let lastModel, lastModel.declared == identity { return lastModel.model }
    guard let known = models.first(where: { $0.declared.identity == identity }) else { return nil }
    lastModel = (identity, known.model)
    return known.model
  }
}
