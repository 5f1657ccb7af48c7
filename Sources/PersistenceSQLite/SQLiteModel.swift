import PersistenceDriver
import PersistenceSQL

/// A declaration of a model, fitted to the table that holds it.
final class SQLiteModel: @unchecked Sendable {  // immutable after init
  /// The declared schema; kept, so that its identity is not given to another.
  let schema: ModelSchema

  /// The table, with its columns in the order of the declared fields.
  let table: SQLTable

  /// How the cells of each declared field are read.
  let cells: [SQLiteCellReader]

  /// All fields as columns.
  let columns: SQLiteColumns

  /// The number that stands for this declaration in shapes.
  let number: UInt32

  /// The shapes of statements that are the same for every record.
  let find, insert, update, save, deleteKey, deleteAll: StatementKey

  init(_ schema: ModelSchema, in table: SQLTable, number: UInt32) {
    self.schema = schema
    self.table = table
    self.number = number
    cells = schema.fields.map { field in
      SQLiteCellReader(field.kind, isOptional: field.isOptional, checksText: table.isForeign)
    }
    columns = SQLiteColumns(all: cells)
    find = StatementKey(.find, model: number)
    insert = StatementKey(.insert, model: number)
    update = StatementKey(.update, model: number)
    save = StatementKey(.save, model: number)
    deleteKey = StatementKey(.deleteKey, model: number)
    deleteAll = StatementKey(.deleteAll, model: number)
  }
}
