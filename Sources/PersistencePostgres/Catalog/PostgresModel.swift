import PersistenceDriver
import PersistenceDriverSupport
import PersistenceSQL
import Synchronization

/// A declaration of a model, mapped to its table.
final class PostgresModel: Sendable {
  /// The declared schema; keeping it keeps its identity unique.
  let schema: ModelSchema
  let layout: PostgresLayout

  /// The columns of another program's table, in the order of the declared fields; nil for one of this package.
  let foreign: [PostgresForeignColumn]?

  /// Whether the table is a view of another program, which is not written.
  let isView: Bool

  /// The table, with its columns in the order of the declared fields.
  let table: SQLTable

  /// All fields.
  let columns: PostgresColumns

  /// The number of this declaration in statement keys.
  let number: UInt32

  /// What finds and writes of single records do, for messages.
  let findAction, writeAction: String

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

  /// Whether an index or the key contains texts or bytes, which have no fixed size.
  let hasLongIndexed: Bool

  /// The average size of the rows that were read, in bytes; 0 before the first.
  let rowSize = Atomic<Int>(0)

  /// The shapes of requests that need a cursor.
  let longShapes = PostgresLongShapes()

  /// The text of the query that finds a record by its key if a version of the catalog is the newest, as it was last used.
  let guardedFind = Lock<(version: Int64, text: PostgresStore.Text)?>(nil)

  init(_ schema: ModelSchema, in table: PostgresTable, number: UInt32) {
    self.schema = schema
    self.number = number
    (findAction, writeAction) = ("find a \(schema.name)", "write a \(schema.name)")
    layout = table.layout
    let stored = table.layout.schema
    let foreign = table.foreign.map { foreign in
      schema.fields.compactMap { field in stored.position(of: field.name).map { foreign.columns[$0] } }
    }
    self.foreign = foreign
    isView = table.foreign?.relation.isView ?? false
    self.table = SQLTable(
      name: table.layout.table,
      columns: foreign?.map(\.sql)
        ?? schema.fields.compactMap { field in
          stored.position(of: field.name).map {
            SQLColumn(table.layout.columns[$0], field.kind, isOptional: field.isOptional)
          }
        }, key: schema.keyPositions,
      indexes: schema.indexes.map { $0.fields.compactMap { schema.position(of: $0) } }, rowID: nil,
      isForeign: foreign != nil, overridesIdentity: table.foreign?.overridesIdentity ?? false)
    columns = PostgresColumns(Array(schema.fields.indices), of: schema, foreign)
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
}
