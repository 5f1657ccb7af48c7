import Persistence

/// The third version: renames a model, computes and removes fields, and makes addresses a model.
///
/// Earlier versions get `newerStore`.
enum Version3: StoreSchema {
  @Persistent("Film", was: "Movie")
  struct Film {
    var id: Int
    @Indexed var title: String
    @Field(was: "cost") var budget: Double
    var minutes: Int
    var subtitle: String
    var note: String?
    var rating: Version2.Rating = .guidance
  }

  @Persistent("Person")
  struct Person {
    var id: Int
    var first: String
    var last: String
  }

  @Persistent("Address")
  struct Address {
    @ID var person: Int
    var street: String
    var city: String
  }

  /// What the step reads of the persons of before.
  @Persistent("Person")
  fileprivate struct OldPerson {
    var id: Int
    var address: String?
  }

  static let models: [any PersistentRecord.Type] = [Film.self, Person.self, Address.self]

  static let evolution: [EvolutionRule] = [
    .fill(\Film.subtitle, with: ""),
    .compute(\Film.minutes, from: "length") { old in try minutes(in: old("length")) },
    .remove("nick", from: "Film"),
    .compute(\Person.first, \Person.last, from: "name") { old in
      let words = try old("name", as: String.self).split(separator: " ", maxSplits: 1).map(String.init)
      return (words.first ?? "", words.dropFirst().first ?? "")
    },
    .step(making: Address.self) { old, new in
      try old.filter(OldPerson.self, where: \.address != nil).result().forEach { person in
        let parts = (person.address ?? "").split(separator: ",", maxSplits: 1)
        let city = parts.dropFirst().first?.drop { $0 == " " } ?? ""
        try new.insert(Address(person: person.id, street: String(parts.first ?? ""), city: String(city)))
      }
    },
    .remove("address", from: "Person"),
  ]

  /// The minutes of a length, such as "1:57".
  static func minutes(in length: String) throws -> Int {
    let parts = length.split(separator: ":").map { Int($0) }
    guard parts.count == 2, let hours = parts[0], let minutes = parts[1] else {
      throw PersistenceError(.damaged, "“\(length)” is not a length in hours and minutes")
    }
    return hours * 60 + minutes
  }
}

extension Version3: AppVersion {
  static func add(to repository: Repository) throws {
    let count = try repository.count(Film.self)
    let sample = try Sample.next(after: count)
    try repository.insert(
      Film(
        id: count + 1, title: sample.title, budget: sample.budget, minutes: try minutes(in: sample.length),
        subtitle: "the film"))
  }

  static func list(_ repository: Repository) throws {
    for film in try repository.filter(Film.self).sorted(by: \.title).result() {
      let subtitle = film.subtitle.isEmpty ? "no subtitle" : film.subtitle
      print(
        "\(film.title): \(film.minutes) minutes, budget \(Int(film.budget)), rating \(film.rating.rawValue), "
          + "\(film.note ?? "no note"), \(subtitle)")
    }
    for person in try repository.filter(Person.self).sorted(by: \.last).result() {
      let address = try repository.find(Address.self, id: person.id)
      print("\(person.last), \(person.first): \(address.map { "\($0.city), \($0.street)" } ?? "no address")")
    }
  }
}
