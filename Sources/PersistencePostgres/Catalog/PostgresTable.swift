import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL
import Synchronization

/// A table that holds a model, with a cache of the declarations that have been used with it.
final class PostgresTable: Sendable {
  let layout: PostgresLayout

  /// The layout as the catalog has it, to detect changes.
  let definition: String

  private let models = Lock<[PostgresModel]>([])

  /// How many declarations to cache; programs that make thousands of schemas make equal ones.
  private static let modelLimit = 200

  init(_ layout: PostgresLayout, definition: String) {
    self.layout = layout
    self.definition = definition
  }

  /// The schema of the model in the store.
  var schema: ModelSchema { layout.schema }

  /// A declaration mapped to this table; throws if it contradicts the table.
  func model(for declared: ModelSchema, store: PostgresStore) throws -> PostgresModel {
    let identity = declared.identity
    let known = models.withLock { models in models.first { $0.schema.identity == identity } }
    if let known { return known }
    // A program that makes its schema anew each time shares the model of the first, equal schema.
    let equal = models.withLock { models in models.first { $0.schema == declared } }
    if let equal { return equal }
    try declared.requireCompatible(with: schema, location: store.location)
    let model = PostgresModel(declared, in: self, number: store.nextModelNumber())
    models.withLock { models in
      if models.count >= Self.modelLimit { models.removeAll() }
      models.append(model)
    }
    return model
  }
}

/// A declaration of a model, mapped to its table.
final class PostgresModel: Sendable {
  /// The declared schema; keeping it keeps its identity unique.
  let schema: ModelSchema
  let layout: PostgresLayout

  /// The table, with its columns in the order of the declared fields.
  let table: SQLTable

  /// All fields.
  let columns: PostgresColumns

  /// The number of this declaration in statement keys.
  let number: UInt32

  /// An index of the table.
  struct Index: Sendable {
    /// The declared positions of its fields.
    let positions: [Int]
    let isUnique: Bool
    /// Whether long values fit, as into one that is not built yet.
    let takesLongValues: Bool
  }

  /// The indexes, in the order of the stored schema's.
  let indexes: [Index]

  /// The fields whose values take space in an index or in the key, and are of no fixed size.
  let hasLongIndexed: Bool

  /// The average size of the rows that were read, in bytes; 0 before the first.
  private let rowSize = Atomic<Int>(0)

  init(_ schema: ModelSchema, in table: PostgresTable, number: UInt32) {
    self.schema = schema
    self.number = number
    layout = table.layout
    let stored = table.layout.schema
    self.table = SQLTable(
      name: table.layout.table,
      columns: schema.fields.compactMap { field in
        stored.position(of: field.name).map {
          SQLColumn(table.layout.columns[$0], field.kind, isOptional: field.isOptional)
        }
      }, key: schema.keyPositions,
      indexes: schema.indexes.map { $0.fields.compactMap { schema.position(of: $0) } }, rowID: nil)
    columns = PostgresColumns(all: schema)
    indexes = zip(stored.indexes, table.layout.indexes).map { index, built in
      Index(
        positions: index.fields.compactMap { schema.position(of: $0) }, isUnique: index.isUnique,
        takesLongValues: built.isWide || built.name == nil)
    }
    hasUnique = zip(stored.indexes, table.layout.indexes).contains { $0.isUnique && $1.name != nil }
    let indexed = Set(schema.keyPositions + indexes.flatMap(\.positions))
    hasLongIndexed = indexed.contains { [.text, .bytes].contains(schema.fields[$0].kind.tag) }
  }

  /// Whether the table has a unique index beside the key's.
  let hasUnique: Bool

  func key(_ kind: StatementKey.Kind, index: Int = 0) -> StatementKey {
    StatementKey(kind, model: number, index: index)
  }

  /// How many rows of a page to fetch at once: about 1 MiB, and few as long as their size is unknown.
  var pageLimit: Int {
    let size = rowSize.load(ordering: .relaxed)
    return size == 0 ? 64 : max(8, min(1_000, (1 << 20) / size))
  }

  /// Learns the size of rows from a page.
  func learn(rows: Int, bytes: Int) {
    guard rows > 0 else { return }
    let known = rowSize.load(ordering: .relaxed)
    let size = max(1, bytes / rows)
    rowSize.store(known == 0 ? size : max(size, (known + size) / 2), ordering: .relaxed)
  }
}
