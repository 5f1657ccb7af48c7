import Foundation
import PersistenceCore
import PersistenceDriverSupport

struct Film: PersistentRecord, Equatable {
  var id: Int
  var title: String
  var budget: Double?
  var day: Date?

  static let schema = RecordSchema<Film>(
    "Film",
    fields: [.field("id", \.id), .field("title", \.title), .field("budget", \.budget), .field("day", \.day)],
    key: [\.id], indexes: [RecordIndex(\.title)])
  var primaryKey: Int { id }

  init(_ id: Int, _ title: String = "t", budget: Double? = nil, day: Date? = nil) {
    (self.id, self.title, self.budget, self.day) = (id, title, budget, day)
  }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    budget = try row.decode(at: 2)
    day = try row.decode(at: 3)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
    row.encode(budget, at: 2)
    row.encode(day, at: 3)
  }

  /// A store in memory with some films.
  static func context(_ films: [Film]) throws -> MemoryContext {
    let context = MemoryContext()
    try context.transaction { try $0.define(Film.schema.model) }
    try Film.insert(films, in: context)
    return context
  }
}
