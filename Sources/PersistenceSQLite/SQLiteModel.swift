import PersistenceDriver
import PersistenceSQL

/// A declaration of a model, fitted to the table that holds it.
final class SQLiteModel: @unchecked Sendable {  // immutable after init; `readers` is freed with it
  /// The declared schema; kept, so that its identity is not given to another.
  let schema: ModelSchema

  /// The table, with its columns in the order of the declared fields.
  let table: SQLTable

  /// How the cells of each declared field are read.
  let cells: [SQLiteCellReader]

  /// The same as ``cells``, for loops that are to cost nothing beside SQLite.
  let readers: UnsafeBufferPointer<SQLiteCellReader>

  /// The number that stands for this declaration in shapes.
  let number: UInt32

  /// The shapes of statements that are the same for every record.
  let find, insert, update, save, deleteKey, deleteAll, rowAtLocator: SQLShape

  init(_ schema: ModelSchema, in table: SQLTable, number: UInt32) {
    self.schema = schema
    self.table = table
    self.number = number
    cells = schema.fields.map(SQLiteCellReader.init)
    let copy = UnsafeMutableBufferPointer<SQLiteCellReader>.allocate(capacity: cells.count)
    _ = copy.initialize(from: cells)
    readers = UnsafeBufferPointer(copy)
    find = SQLShape(.find, model: number)
    insert = SQLShape(.insert, model: number)
    update = SQLShape(.update, model: number)
    save = SQLShape(.save, model: number)
    deleteKey = SQLShape(.deleteKey, model: number)
    deleteAll = SQLShape(.deleteAll, model: number)
    rowAtLocator = SQLShape(.rowAtLocator, model: number)
  }

  deinit { readers.deallocate() }
}
