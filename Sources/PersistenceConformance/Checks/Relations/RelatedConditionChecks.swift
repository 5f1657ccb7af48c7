import Foundation
import PersistenceCore

/// L5: conditions on related records.
enum RelatedConditionChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("has matches records whose reference is not nil and leads to a match", [.l5], has),
    ConformanceCheck("hasAny matches records to which a match refers, each once", [.l5], hasAny),
    ConformanceCheck("conditions on related records nest, and ! is their complement", [.l5, .v6], nested),
    ConformanceCheck("random conditions over two levels agree with a plain evaluation", [.l5], random),
    ConformanceCheck(
      "counts, aggregates, pages, updates and selections ask through relations too", [.l5], everywhere),
    ConformanceCheck(
      "a predicate with conditions on related records is encoded, decoded and asked with the same answer",
      [.l5],
      encoded),
    ConformanceCheck("a model that the store does not contain has no related records", [.l5], absent),
  ]

  @Sendable private static func has(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    func ids(_ predicate: PersistentPredicate<Film>) throws -> [Int] {
      try repository.filter(Film.self, where: predicate).ids()
    }
    try expect(ids(.has(\.studio, \.name == "A24")), equals: [1, 3])
    try expect(ids(.has(\.studio, \.name == "MGM")), equals: [])
    try expect(ids(.has(\.studio)), equals: [1, 2, 3])
    try expect(ids(.has(\.director)), equals: [1, 2])
    try expect(ids(!.has(\.director)), equals: [3])
    try expect(ids(.has(\.director, \.age < 50)), equals: [1])
    try expect(ids(!.has(\.director, \.age < 50)), equals: [2, 3])
    try expect(ids(.has(\.director, \.age < 50) || \.title == "Ponyo"), equals: [1, 2])
    try expect(repository.filter(Role.self, where: .has(\.actor, \.id == "bob")).count(), equals: 1)
  }

  @Sendable private static func hasAny(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    try repository.save(Studio(3, "MGM"))
    func ids(_ predicate: PersistentPredicate<Studio>) throws -> [Int] {
      try repository.filter(Studio.self, where: predicate).ids()
    }
    try expect(ids(.hasAny(\Film.studio)), equals: [1, 2])
    try expect(ids(!.hasAny(\Film.studio)), equals: [3])
    try expect(ids(.hasAny(\Film.studio, where: \.director == nil)), equals: [1])
    try expect(ids(.hasAny(\Film.studio, where: \.id >= 1)), equals: [1, 2])
    try expect(repository.filter(Studio.self, where: .hasAny(\Film.studio)).count(), equals: 2)
    try expect(
      repository.filter(
        Performer.self, where: .hasAny(\Film.director) && .hasAny(\Role.actor, where: \.name == "lead")
      )
      .ids(), equals: ["bob"])
  }

  @Sendable private static func nested(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    try repository.save(contentsOf: [Studio(3, "Plan B", parent: 1), Studio(4, "Pixar", parent: 3)])
    try repository.save(Film(4, "Up", studio: 4, director: "bob"))
    let up = PersistentPredicate<Film>.has(\.studio, .has(\.parent, .has(\.parent, \.name == "A24")))
    try expect(repository.filter(Film.self, where: up).ids(), equals: [4])
    try expect(repository.filter(Film.self, where: !up).ids(), equals: [1, 2, 3])
    try expect(
      repository.filter(Studio.self, where: .hasAny(\Studio.parent, where: \.id > 3))
        .ids(), equals: [3])
    try expect(
      repository.filter(
        Film.self, where: .hasAny(\Role.film, where: .has(\.actor, \.age > 50)) && !.has(\.studio, \.id == 2)
      )
      .ids(), equals: [1])
  }

  @Sendable private static func random(_ context: ContextUnderTest) throws {
    let repository = Repository(try context.makeStore().open().context)
    var random = SeededGenerator(seed: 18)
    let studios = (0..<12).map {
      Studio($0, random.pick(["a", "b", "c"]), parent: $0 > 2 && random.oneIn(2) ? $0 - 3 : nil)
    }
    let actors = (0..<8).map { Performer("p\($0)", age: random.int(0...4)) }
    let films = (0..<60).map {
      Film(
        $0, random.pick(["x", "y"]), studio: random.int(0...11),
        director: random.oneIn(3) ? nil : "p\(random.int(0...7))")
    }
    try repository.transaction { store in
      try store.save(contentsOf: studios)
      try store.save(contentsOf: actors)
      try store.save(contentsOf: films)
    }
    for round in 0..<context.effort.times(40, thorough: 400) {
      let (name, age, title) = (random.pick(["a", "b", "c"]), random.int(0...4), random.pick(["x", "y"]))
      var predicate: PersistentPredicate<Film> = .has(\.studio, \.name == name)
      var matches: (Film) -> Bool = { film in studios[film.studio.key].name == name }
      switch round % 4 {
      case 1:
        predicate = .has(
          \.studio,
          .has(\.parent, \.name != name) || .hasAny(\Film.studio, where: .has(\.director, \.age == age)))
        matches = { film in
          let parent = studios[film.studio.key].parent.map { studios[$0.key].name }
          return parent.map { $0 != name } ?? false
            || films.contains { other in
              other.studio == film.studio
                && other.director.map { actors[Int($0.key.dropFirst()) ?? 0].age == age } ?? false
            }
        }
      case 2:
        predicate = !.has(\.director, \.age > age) && \.title == title
        matches = { film in
          film.title == title
            && !(film.director.map { actors[Int($0.key.dropFirst()) ?? 0].age > age } ?? false)
        }
      case 3:
        predicate = .has(\.director, !.hasAny(\Film.director, where: \.title == title))
        matches = { film in
          film.director.map { director in !films.contains { $0.director == director && $0.title == title } }
            ?? false
        }
      default: break
      }
      if random.oneIn(3) {
        let positive = matches
        (predicate, matches) = (!predicate, { !positive($0) })
      }
      try expect(
        repository.filter(Film.self, where: predicate).ids(), equals: films.filter(matches).map(\.id),
        "\(predicate)")
    }
  }

  @Sendable private static func everywhere(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    let query = repository.filter(Film.self, where: .has(\.studio, \.name == "A24"))
    try expect(query.count(), equals: 2)
    try expect(query.exists())
    try expect(query.first()?.id, equals: 1)
    try expect(query.max(\.id), equals: 3)
    try expect(query.distinct(\.title), equals: ["Aftersun", "Moonlight"])
    try expect(query.select(\.title).map { $0 }, equals: ["Moonlight", "Aftersun"])
    let page = try query.limit(1).page()
    try expect(page.models.map(\.id), equals: [1])
    // The token belongs to the condition, not to the keys that it found.
    try repository.save(Studio(3, "A24"))
    try repository.save(Film(4, "Up", studio: 3))
    try expect(query.limit(5).after(require(page.next)).page().models.map(\.id), equals: [3, 4])
    try expect(query.sorted(by: \.title).reversed().ids(), equals: [4, 1, 3])
    try expect(query.update(.set(\.title, to: "old")), equals: 3)
    try expect(repository.filter(Film.self, where: \.title == "old").ids(), equals: [1, 3, 4])
    try repository.transaction { store in
      try store.save(Studio(2, "A24"))
      try expect(store.filter(Film.self, where: .has(\.studio, \.name == "A24")).count(), equals: 4)
    }
    _ = try query.explain()
  }

  @Sendable private static func encoded(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    let predicate: PersistentPredicate<Film> =
      .has(\.studio, \.name == "A24" && !.hasAny(\Film.studio, where: \.title == "Up"))
      && !.has(\.director, \.age > 50)
    let data = try JSONEncoder().encode(predicate)
    let decoded = try JSONDecoder().decode(PersistentPredicate<Film>.self, from: data)
    try expect(decoded, equals: predicate)
    try expect(repository.filter(Film.self, where: decoded).ids(), equals: [1, 3])
  }

  @Sendable private static func absent(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: [Studio(1)])
    try expect(repository.filter(Studio.self, where: .hasAny(\Film.studio)).ids(), equals: [])
    try expect(repository.filter(Studio.self, where: !.hasAny(\Film.studio)).ids(), equals: [1])
    try expect(repository.filter(Film.self, where: .has(\.studio)).count(), equals: 0)
  }
}
