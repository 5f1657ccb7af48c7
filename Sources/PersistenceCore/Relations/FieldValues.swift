package import PersistenceDriver

/// The values of some fields, of one row after another.
@usableFromInline
struct FieldValues: Sendable {
  @usableFromInline let fields: [Int]
  @usableFromInline var columns: [[PersistentValue]]

  /// Creates an empty collection of the values of some fields, by their positions.
  @usableFromInline
  init(of fields: [Int]) {
    // Most pages have one.
    self.fields = fields.count == 1 ? fields : Array(Set(fields))
    columns = Array(repeating: [], count: self.fields.count)
  }

  /// The values of a field.
  subscript(field: Int) -> [PersistentValue] { fields.firstIndex(of: field).map { columns[$0] } ?? [] }

  /// Adds the values of a row.
  @inlinable
  mutating func add(_ row: borrowing Row) throws {
    for (column, field) in fields.enumerated() { columns[column].append(try row.value(at: field)) }
  }
}
