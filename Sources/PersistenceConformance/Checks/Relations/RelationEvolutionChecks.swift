import PersistenceCore

/// L1, L2 and S1 to S8: references of stores of other versions.
enum RelationEvolutionChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "an opening finds what dangles when a field becomes a reference, or settles it", [.l1, .s5], orphans),
    ConformanceCheck(
      "steps may make referring records before their targets, and orphan rules apply to them", [.l1, .s5],
      steps),
    ConformanceCheck("references and their targets keep their rules under new names", [.l2, .s3], renamed),
    ConformanceCheck(
      "a target that was renamed without `was:` is refused, and nothing changes", [.l1, .e4],
      unsaid),
    ConformanceCheck(
      "an opening changes delete rules, which earlier versions do not change back", [.l2, .s4], rules),
    ConformanceCheck(
      "a removed reference keeps nothing, and a referred model is not removed", [.l1, .s8], removed),
    ConformanceCheck(
      "a reference ends by a rule only, and earlier versions do not begin it again", [.l1, .s4], ended),
    ConformanceCheck(
      "a reference that begins again keeps its new rule from earlier versions", [.l2, .s4], begunAgain),
    ConformanceCheck(
      "a value that replaces nil in a reference has its record, or the opening changes nothing", [.l1, .s5],
      filled),
    ConformanceCheck(
      "a reference that can no longer become nil keeps its record, and others can be deleted", [.l2],
      neverNil),
    ConformanceCheck(
      "references are checked under the names that a transaction gives to their models", [.l1, .l2, .s3],
      renamedInside),
  ]

  @Sendable private static func orphans(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.evolved(FilmApp.Plain.self)
    try repository.save(contentsOf: [Studio(1), Studio(2)])
    try repository.save(Performer("ada"))
    var films = [
      PlainFilm(1, studio: 1), PlainFilm(2, studio: 9), PlainFilm(3, studio: 2), PlainFilm(4, studio: 8),
    ]
    films[0].director = "ada"
    films[2].director = "nobody"
    try repository.save(contentsOf: films)
    let before = try StoredContent(repository.storage)
    let error = try expectError(.brokenReference) { try repository.evolved(FilmApp.Related.self) }
    try expect(error.model, equals: "Film")
    try expect(StoredContent(repository.storage), equals: before)
    try repository.evolved(FilmApp.Settled.self)
    try expect(repository.filter(Film.self).ids(), equals: [1, 3])
    try expect(repository.filter(Film.self).select(\.director).map { $0?.key }, equals: ["ada", nil])
    try expectError(.brokenReference) { try repository.delete(Studio.self, id: 1) }
    let settled = try StoredContent(repository.storage)
    try repository.evolved(FilmApp.Settled.self)
    try repository.evolved(FilmApp.Related.self)
    try expect(StoredContent(repository.storage), equals: settled)
  }

  @Sendable private static func steps(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.evolved(FilmApp.Stepped.self)
    try expect(repository.filter(Film.self).ids(), equals: [1])
    try expectError(.brokenReference) { try repository.delete(Studio.self, id: 1) }
  }

  @Sendable private static func renamed(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.evolved(FilmApp.Related.self)
    try IntegrityChecks.fill(repository)
    try repository.deleteAll(Role.self)
    try repository.evolved(FilmApp.Renamed.self)
    try expectError(.brokenReference) { try repository.save(FilmVersion.Movie(9, house: 9)) }
    // A version from before the renames is mapped, and keeps them too.
    try expectError(.brokenReference) { try repository.save(Film(9, studio: 9)) }
    try repository.save(Film(9, studio: 2))
    let movies = try repository.filter(FilmVersion.Movie.self).including(\.house, \.director).result()
    try expect(
      movies.map { "\($0.0.id) \($0.1.name) \($0.2?.id ?? "nil")" },
      equals: [
        "1 A24 ada", "2 Ghibli bob", "3 A24 nil", "9 Ghibli nil",
      ])
    let films = try repository.filter(Film.self, where: .has(\.studio, \.name == "A24")).including(\.studio)
      .result()
    try expect(films.map { "\($0.0.id) \($0.1.name)" }, equals: ["1 A24", "3 A24"])
    try expect(
      repository.filter(Studio.self, where: .hasAny(\Film.studio, where: \.id > 3)).ids(), equals: [2])
    try expect(
      repository.filter(Film.self).sorted(by: \.studio, \.name, inOrder: .descending).first()?.id, equals: 9)
    try repository.delete(Performer.self, id: "ada")
    try repository.delete(FilmVersion.Company.self, id: 1)
    try expect(repository.filter(FilmVersion.Movie.self).ids(), equals: [2, 9])
  }

  @Sendable private static func unsaid(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.evolved(FilmApp.Related.self)
    try repository.save(Studio(1))
    try repository.save(Film(1, studio: 1))
    let before = try StoredContent(repository.storage)
    let error = try expectError(.brokenReference) { try repository.evolved(FilmApp.Unsaid.self) }
    try expect(error.message.contains("@Persistent(\"Firm\", was: \"Studio\")"), "\(error)")
    try expect(StoredContent(repository.storage), equals: before)
  }

  @Sendable private static func rules(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.evolved(FilmApp.Early.self)
    try repository.save(Studio(1))
    try repository.save(contentsOf: [FilmVersion.Early(1, studio: 1), FilmVersion.Early(2, studio: 9)])
    try expectError(.brokenReference) { try repository.evolved(FilmApp.Related.self) }
    try repository.evolved(FilmApp.Settled.self)
    try expect(repository.filter(Film.self).ids(), equals: [1])
    try IntegrityChecks.fill(repository)
    try repository.deleteAll(Role.self)
    try expectError(.brokenReference) { try repository.delete(Studio.self, id: 2) }
    try repository.evolved(FilmApp.Undirected.self)
    let changed = try StoredContent(repository.storage)
    try repository.evolved(FilmApp.Undirected.self)
    try expect(StoredContent(repository.storage), equals: changed)
    try repository.save(FilmVersion.Undirected(8, studio: 2))
    try repository.delete(Studio.self, id: 2)
    try expect(repository.filter(FilmVersion.Undirected.self).ids(), equals: [1, 3])
    // Without a schema too, a rule that the field never had is adopted.
    let other = try context.makeStore().open()
    try other.save(Studio(1))
    try other.save(Film(1, studio: 1))
    try expectError(.brokenReference) { try other.delete(Studio.self, id: 1) }
    try other.save(FilmVersion.Undirected(2, studio: 1))
    try other.save(Film(3, studio: 1))
    try other.delete(Studio.self, id: 1)
    try expect(other.count(Film.self), equals: 0)
  }

  @Sendable private static func ended(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.evolved(FilmApp.Related.self)
    try IntegrityChecks.fill(repository)
    try repository.deleteAll(Role.self)
    try expectError(.invalidSchema) { try repository.evolved(FilmApp.Contradictory.self) }
    try repository.evolved(FilmApp.Plain.self)
    try expectError(.brokenReference) { try repository.save(PlainFilm(9, studio: 9)) }
    try repository.evolved(FilmApp.Ended.self)
    let ended = try StoredContent(repository.storage)
    try repository.evolved(FilmApp.Ended.self)
    try expect(StoredContent(repository.storage), equals: ended)
    try repository.save(PlainFilm(9, studio: 9))
    try repository.delete(Performer.self, id: "ada")
    try expect(Array(repository.filter(PlainFilm.self).select(\.director)), equals: ["ada", "bob", nil, nil])
    // A copy of the earlier version still runs.
    try repository.save(Film(10, studio: 10))
    try repository.delete(Studio.self, id: 1)
    try expect(repository.filter(Film.self).ids(), equals: [1, 2, 3, 9, 10])
    // The last opening decides.
    try expectError(.brokenReference) { try repository.evolved(FilmApp.Related.self) }
    try repository.evolved(FilmApp.Settled.self)
    try expect(repository.filter(Film.self).ids(), equals: [2])
    try expectError(.brokenReference) { try repository.save(Film(11, studio: 11)) }
  }

  @Sendable private static func begunAgain(_ context: ContextUnderTest) throws {
    let repository = try released(context)
    try repository.evolved(FilmApp.Ended.self)
    try repository.evolved(FilmApp.Renamed.self)
    // A copy of the first version still runs.
    try repository.save(Film(9, studio: 2))
    try repository.delete(FilmVersion.Company.self, id: 2)
    try expect(repository.filter(FilmVersion.Movie.self).ids(), equals: [1, 3])
  }

  @Sendable private static func filled(_ context: ContextUnderTest) throws {
    let repository = try released(context)
    let before = try StoredContent(repository.storage)
    let error = try expectError(.brokenReference) { try repository.evolved(FilmApp.Nobody.self) }
    try expect(error.field, equals: "director")
    try expect(error.key, equals: RecordKey([.integer(3)]))
    try expect(StoredContent(repository.storage), equals: before)
    try repository.save(Performer("nobody"))
    try repository.evolved(FilmApp.Nobody.self)
    try expectError(.brokenReference) { try repository.delete(Performer.self, id: "nobody") }
  }

  @Sendable private static func neverNil(_ context: ContextUnderTest) throws {
    let repository = try released(context)
    try repository.evolved(FilmApp.Named.self)
    try expectError(.brokenReference) { try repository.delete(Performer.self, id: "bob") }
    try repository.save(Performer("eve"))
    try expect(repository.delete(Performer.self, id: "eve"))
    try expect(
      Array(repository.filter(FilmVersion.Named.self).select(\.director)), equals: ["ada", "bob", "ada"])
  }

  @Sendable private static func renamedInside(_ context: ContextUnderTest) throws {
    let repository = try released(context)
    let before = try StoredContent(repository.storage)
    do {
      try repository.transaction { store in
        try store.save(FilmVersion.Company(5))
        throw SuiteError()
      }
    } catch let error as PersistenceError where error.code == .schemaMismatch {
      // Where a new name costs a copy of the records, only an opening gives it.
      return
    } catch is SuiteError {}
    try expectError(.brokenReference) {
      try repository.transaction { store in
        try store.save(FilmVersion.Movie(9, house: 99))
        try store.save(FilmVersion.Company(5))
      }
    }
    try expectError(.brokenReference) {
      try repository.transaction { store in
        try store.delete(FilmVersion.Company.self, id: 1)
        try store.save(FilmVersion.Company(5))
      }
    }
    try expect(StoredContent(repository.storage), equals: before)
    try repository.transaction { store in
      try store.save(FilmVersion.Movie(9, house: 5))
      try store.save(FilmVersion.Company(5))
    }
    try expect(repository.filter(FilmVersion.Movie.self).ids(), equals: [1, 2, 3, 9])
  }

  /// A store of the version with references: two studios, two performers and three films.
  private static func released(_ context: ContextUnderTest) throws -> Repository {
    let repository = try context.makeStore().open()
    try repository.evolved(FilmApp.Related.self)
    try IntegrityChecks.fill(repository)
    try repository.deleteAll(Role.self)
    return repository
  }

  @Sendable private static func removed(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.evolved(FilmApp.Related.self)
    try IntegrityChecks.fill(repository)
    try repository.deleteAll(Role.self)
    let error = try expectError(.invalidSchema) { try repository.evolved(FilmApp.WithoutStudios.self) }
    try expect(error.message.contains("Studio"), "the message names the model")
    try repository.evolved(FilmApp.Undirected.self)
    try repository.deleteAll(Performer.self)
    try expect(repository.count(FilmVersion.Undirected.self), equals: 3)
    try expectError(.brokenReference) { try repository.save(FilmVersion.Undirected(9, studio: 9)) }
  }
}
