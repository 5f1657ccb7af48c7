import PersistenceCore

/// A record whose key is not its first field.
struct Graded: PersistentRecord, Hashable {
  var title: String
  var grade: Grade
  var code: Int

  init(_ title: String, _ grade: Grade, code: Int) {
    self.title = title
    self.grade = grade
    self.code = code
  }

  static let schema = RecordSchema<Graded>(
    "Graded", fields: [.field("title", \.title), .field("grade", \.grade), .field("code", \.code)],
    key: [\.code], indexes: [RecordIndex(\.title, \.grade)])

  var primaryKey: Int { code }

  init(from row: borrowing Row) throws {
    title = try row.decode(at: 0)
    grade = try row.decode(at: 1)
    code = try row.decode(at: 2)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(title, at: 0)
    row.encode(grade, at: 1)
    row.encode(code, at: 2)
  }
}
