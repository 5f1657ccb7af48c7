import PersistenceDriver
import PersistenceSQL

/// The columns that a statement yields: which fields they hold, and how they are read.
final class SQLiteColumns: @unchecked Sendable {  // immutable after init; `readers` is freed with it
  /// The position of each column's field.
  let positions: [Int]

  /// The columns as they stand in a shape; none for all fields.
  let items: [SQLItem]

  /// How many columns a row that is lent has; those behind it are for the library itself.
  let lent: Int

  /// How each column is read.
  let readers: UnsafeBufferPointer<SQLiteCellReader>

  /// All fields of a model.
  init(all cells: [SQLiteCellReader]) {
    positions = Array(cells.indices)
    items = []
    lent = cells.count
    readers = Self.copy(cells)
  }

  /// Some fields of a model.
  ///
  /// - Parameters:
  ///   - selected: The fields of the rows that are lent; one may stand twice.
  ///   - others: The fields that are read besides, such as those of the order.
  ///   - cells: How the model's fields are read.
  init(_ selected: [Int], and others: [Int], of cells: [SQLiteCellReader]) {
    positions = selected + others.filter { !selected.contains($0) }
    items = positions.map { SQLItem(.field, $0) }
    lent = selected.count
    readers = Self.copy(positions.map { cells[$0] })
  }

  deinit { readers.deallocate() }

  /// The columns in which fields stand.
  func columns(of fields: [Int]) -> [Int] { fields.compactMap { positions.firstIndex(of: $0) } }

  private static func copy(_ readers: [SQLiteCellReader]) -> UnsafeBufferPointer<SQLiteCellReader> {
    let copy = UnsafeMutableBufferPointer<SQLiteCellReader>.allocate(capacity: readers.count)
    _ = copy.initialize(from: readers)
    return UnsafeBufferPointer(copy)
  }
}
