import PersistenceDriver

/// The values of some fields, of one row after another.
struct FieldValues: Sendable {
  private let fields: [Int]
  private var columns: [[PersistentValue]]

  /// Creates an empty collection of the values of some fields, by their positions.
  init(of fields: Set<Int>) {
    self.fields = Array(fields)
    columns = Array(repeating: [], count: fields.count)
  }

  /// The values of a field.
  subscript(field: Int) -> [PersistentValue] { fields.firstIndex(of: field).map { columns[$0] } ?? [] }

  /// Adds the values of a row.
  mutating func add(_ row: borrowing Row) throws {
    for (column, field) in fields.enumerated() { columns[column].append(try row.value(at: field)) }
  }
}
