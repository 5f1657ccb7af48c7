import Persistence

/// The second version: renames a field and adds others; the first version goes on beside it.
enum Version2: StoreSchema {
  @Persistent("Movie")
  struct Movie {
    var id: Int
    @Indexed var title: String
    @Field(was: "cost") var budget: Double
    var length: String
    var subtitle: String?
    var nick: String?
    var note: String?
    var rating: Rating = .guidance
  }

  enum Rating: String, PersistentValueConvertible {
    case general = "G", guidance = "PG", restricted = "R"
  }

  static let models: [any PersistentRecord.Type] = [Movie.self, Version1.Person.self]
}

extension Version2: AppVersion {
  static func add(to repository: Repository) throws {
    let count = try repository.count(Movie.self)
    let sample = try Sample.next(after: count)
    try repository.transaction { inside in
      try inside.insert(
        Movie(
          id: count + 1, title: sample.title, budget: sample.budget, length: sample.length, note: "new",
          rating: .restricted))
      try inside.insert(Version1.Person(id: count + 1, name: sample.guest, address: sample.address))
    }
  }

  static func list(_ repository: Repository) throws {
    for movie in try repository.filter(Movie.self).sorted(by: \.title).result() {
      let budget = Int(movie.budget)
      print("\(movie.title): budget \(budget), rating \(movie.rating.rawValue), \(movie.note ?? "no note")")
    }
  }
}
