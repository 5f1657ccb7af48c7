package import PersistenceCore

/// A record whose key is not its first field.
package struct Graded: PersistentRecord, Hashable {
  package var title: String
  package var grade: Grade
  package var code: Int

  /// Creates a record.
  package init(_ title: String, _ grade: Grade, code: Int) {
    self.title = title
    self.grade = grade
    self.code = code
  }

  package static let schema = RecordSchema<Graded>(
    "Graded", fields: [.field("title", \.title), .field("grade", \.grade), .field("code", \.code)],
    key: [\.code], indexes: [RecordIndex(\.title, \.grade)])

  package var primaryKey: Int { code }

  package init(from row: borrowing Row) throws {
    title = try row.decode(at: 0)
    grade = try row.decode(at: 1)
    code = try row.decode(at: 2)
  }

  package func encode(into row: RowBuffer) throws {
    row.encode(title, at: 0)
    row.encode(grade, at: 1)
    row.encode(code, at: 2)
  }
}
