import DataAccess
import Foundation
import Persistence
import PersistenceMigration
import PersistenceSQLite

@Persistent
struct Film: Hashable {
  var id: UUID  // the key, since it is called id
  @Unique var imdbID: String?  // no two films have the same; any number have none
  @Field("film_title") var title: String  // the field's name in the store
  @Indexed var year: Int  // for conditions and orders by year
  var cast: [String] = []  // any Codable value: one JSON document
  @Transient var isSelected = false  // not stored
  #Index<Film>([\.year, \.title])  // for both together, in this order
}

@Persistent
struct Seat: Hashable {
  @ID var hall: String  // a key of two parts
  @ID var number: Int
  var price: Double
}

@Persistent(contexts: SQLiteContext.self, MemoryContext.self)
struct Draft {
  var id: Int
  var text: String
}

struct Ticket: PersistentRecord {
  var id: Int
  var hall: String
  var paidAt: Date?

  static let schema = RecordSchema<Ticket>(
    "Ticket",
    fields: [.field("id", \.id), .field("hall", \.hall), .field("paid_at", \.paidAt)],
    key: [\.id],
    indexes: [RecordIndex([\.hall])])

  var primaryKey: Int { id }

  init(id: Int, hall: String, paidAt: Date? = nil) {
    (self.id, self.hall, self.paidAt) = (id, hall, paidAt)
  }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    hall = try row.decode(at: 1)
    paidAt = try row.decode(at: 2)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(hall, at: 1)
    row.encode(paidAt, at: 2)
  }
}

enum Recipes {
  static func compositeKeys(_ repository: Repository) throws -> Seat? {
    try repository.save(Seat(hall: "Rex", number: 12, price: 9.5))
    let key = Seat.PrimaryKey(hall: "Rex", number: 12)
    let seat = try repository.find(Seat.self, id: key)
    let cheap = try repository.filter(Seat.self, where: \.hall == "Rex" && \.price < 10).count()
    print(cheap)
    return seat
  }

  static func conditions(_ repository: Repository) throws -> [String] {
    let seventies = try repository.filter(Film.self, where: .between(\.year, 1970...1979)).result()
    // A and four characters, and a text that begins with 100%.
    let short = try repository.filter(Film.self, where: .like(\.title, "A____")).result()
    let percent = try repository.filter(Film.self, where: .like(\.title, #"100\%%"#)).result()
    return [seventies, short, percent].flatMap { $0.map(\.title) }
  }

  /// The answer to a request of a client for a page.
  static func page(
    of repository: Repository, after token: String?
  ) throws -> (titles: [String], next: String?) {
    var query = repository.filter(Film.self).sorted(by: \.title).limit(20)
    if let token { query = query.after(PageToken(text: token)) }
    let page = try query.page()
    return (page.models.map(\.title), page.next?.text)
  }

  static func asynchronous(_ repository: Repository) async throws -> [Film] {
    let films = repository.dataSource(of: Film.self)
    try await films.save(Film(id: UUID(), imdbID: nil, title: "Ran", year: 1985))
    return try await films.filter(where: \.year > 1980).sorted(by: \.title).result()
  }

  static func backup(_ repository: Repository, to folder: String) throws {
    try repository.backup(to: "sqlite:\(folder)/monday.sqlite", engines: [.sqlite])
  }

  static func restore(_ repository: Repository, from folder: String) throws {
    try repository.restore(from: "sqlite:\(folder)/monday.sqlite", engines: [.sqlite], replacingContent: true)
  }

  static func ownSQL(_ repository: Repository) throws -> [String] {
    guard let sqlite = repository.context as? SQLiteContext else { return [] }
    let rows = try sqlite.rows(
      "SELECT film_title, count(*) FROM Film GROUP BY film_title HAVING count(*) > ?1", [.integer(1)])
    try sqlite.execute("UPDATE Film SET film_title = trim(film_title) WHERE year < ?1", [.integer(1930)])
    return rows.compactMap { row in
      if case .text(let title) = row[0] { title } else { nil }
    }
  }
}

#if canImport(SwiftUI)
  import SwiftUI

  struct FilmList: View {
    @State private var films: LoadingModel<RecordUpdate<Film>>

    init(_ repository: Repository) {
      let query = repository.filter(Film.self).sorted(by: \.title).limit(200)
      _films = State(initialValue: LoadingModel(of: query.updates().states))
    }

    var body: some View {
      List(films.value.map { Array($0.results) } ?? [], id: \.id) { film in Text(film.title) }
        .onAppear { films.start() }
        .onDisappear { films.stop() }
    }
  }
#endif
