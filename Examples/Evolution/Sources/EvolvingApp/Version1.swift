import Persistence

/// The first version of the app: the movies and the guests of a festival.
enum Version1: StoreSchema {
  @Persistent("Movie")
  struct Movie {
    var id: Int
    var title: String
    var cost: Double
    var length: String  // "1:57"
    var subtitle: String?
    var nick: String?
  }

  @Persistent("Person")
  struct Person {
    var id: Int
    var name: String
    var address: String?
  }

  static let models: [any PersistentRecord.Type] = [Movie.self, Person.self]
}

extension Version1: AppVersion {
  static func add(to repository: Repository) throws {
    let count = try repository.count(Movie.self)
    let sample = try Sample.next(after: count)
    try repository.transaction { inside in
      try inside.insert(
        Movie(
          id: count + 1, title: sample.title, cost: sample.budget, length: sample.length,
          nick: "no. \(count + 1)"))
      try inside.insert(Person(id: count + 1, name: sample.guest, address: sample.address))
    }
  }

  static func list(_ repository: Repository) throws {
    for movie in try repository.filter(Movie.self).result() {
      print("\(movie.title): cost \(Int(movie.cost)), length \(movie.length), \(movie.nick ?? "no nick")")
    }
    for person in try repository.filter(Person.self).result() {
      print("\(person.name): \(person.address ?? "no address")")
    }
  }
}
