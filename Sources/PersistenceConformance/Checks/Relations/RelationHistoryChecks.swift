import PersistenceCore

/// L1 to L3: random histories against plain arrays with a full check at each commit.
enum RelationHistoryChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "random transactions with nests, circles and every rule keep exactly what a full check keeps",
      [.l1, .l2, .l3],
      histories)
  ]

  @Sendable private static func histories(_ context: ContextUnderTest) throws {
    for seed in 1...UInt64(context.effort.times(6, thorough: 60)) {
      let repository = try context.makeStore().open()
      var random = SeededGenerator(seed: seed)
      var model = RelationModel()
      var journal: [String] = []
      for round in 0..<context.effort.times(25, thorough: 60) {
        var next = model
        journal.removeAll()
        do {
          try repository.transaction { store in
            try run(&random, store, &next, &journal, depth: 0)
          }
          try expect(
            next.isWhole, "seed \(seed), round \(round): \(journal.joined(separator: "; ")) was committed")
          model = next
        } catch let error as PersistenceError where error.code == .brokenReference {
          try expect(
            !next.isWhole,
            "seed \(seed), round \(round): \(journal.joined(separator: "; ")) was refused: \(error)")
        } catch is SuiteError {
          // The whole transaction was to roll back.
        }
        var found = try RelationModel(repository)
        found.declaration = model.declaration
        try expect(
          found, equals: model,
          "seed \(seed), round \(round): \(journal.joined(separator: "; "))")
      }
      try repository.close()
    }
  }

  /// Performs some random writes, and the same to the arrays.
  private static func run(
    _ random: inout SeededGenerator, _ store: any PersistentRepository, _ model: inout RelationModel,
    _ journal: inout [String], depth: Int
  ) throws {
    for _ in 0...random.int(0...5) {
      if depth < 3, random.oneIn(6) {
        var inner = model
        journal.append("nest {")
        do {
          try store.transaction { try run(&random, $0, &inner, &journal, depth: depth + 1) }
          model = inner
          journal.append("}")
        } catch is SuiteError {
          journal.append("} undone")
        }
        continue
      }
      let write = RelationWrite(&random)
      journal.append("\(write)")
      try write.perform(on: store)
      write.perform(on: &model)
    }
    if random.oneIn(8) { throw SuiteError() }
  }
}

/// One random write to records that refer to each other.
private enum RelationWrite {
  case studio(Studio)
  case performer(Performer)
  case film(Film)
  /// A film written by a version of the app that knows no references.
  case plainFilm(PlainFilm)
  case role(Role)
  case deleteStudio(Int)
  case deleteStudios(upTo: Int)
  case deleteAllStudios
  case deletePerformer(String)
  case deleteAllPerformers
  case deleteFilm(Int)
  case deleteFilmsOfStudio(Int)
  case deleteRoles
  case moveFilms(from: Int, to: Int)

  init(_ random: inout SeededGenerator) {
    let (studio, film, actor) = (random.int(1...4), random.int(1...5), random.pick(["a", "b", "c"]))
    self =
      switch random.int(0...19) {
      case 0...3: .studio(Studio(studio, parent: random.oneIn(2) ? nil : random.int(1...4)))
      case 4, 5: .performer(Performer(actor))
      case 6...9: .film(Film(film, studio: studio, director: random.oneIn(2) ? nil : actor))
      case 10: .plainFilm(PlainFilm(film, studio: studio))
      case 11, 12: .role(Role(film, actor))
      case 13: .deleteStudio(studio)
      case 14: random.oneIn(3) ? .deleteAllStudios : .deleteStudios(upTo: studio)
      case 15: random.oneIn(4) ? .deleteAllPerformers : .deletePerformer(actor)
      case 16: .deleteFilm(film)
      case 17: .deleteFilmsOfStudio(studio)
      case 18: .deleteRoles
      default: .moveFilms(from: studio, to: random.int(1...4))
      }
  }

  func perform(on store: any PersistentRepository) throws {
    switch self {
    case .studio(let studio): try store.save(studio)
    case .performer(let performer): try store.save(performer)
    case .film(let film): try store.save(film)
    case .plainFilm(let film): try store.save(film)
    case .role(let role): try store.save(role)
    case .deleteStudio(let id): try store.delete(Studio.self, id: id)
    case .deleteStudios(let id): try store.delete(Studio.self, where: \.id <= id)
    case .deleteAllStudios: try store.deleteAll(Studio.self)
    case .deletePerformer(let id): try store.delete(Performer.self, id: id)
    case .deleteAllPerformers: try store.deleteAll(Performer.self)
    case .deleteFilm(let id): try store.delete(Film.self, id: id)
    case .deleteFilmsOfStudio(let id): try store.delete(Film.self, where: \.studio == Reference(id))
    case .deleteRoles: try store.deleteAll(Role.self)
    case .moveFilms(let from, let to):
      try store.filter(Film.self, where: \.studio == Reference(from)).update(
        .set(\.studio, to: Reference(to)))
    }
  }

  func perform(on model: inout RelationModel) {
    switch self {
    case .studio(let studio): model.studios[studio.id] = studio
    case .performer(let performer): model.performers[performer.id] = performer
    case .film(let film):
      model.films[film.id] = film
      model.declaration = .withReferences
    case .plainFilm(let film):
      model.films[film.id] = Film(film.id, studio: film.studio)
      if model.declaration == .absent { model.declaration = .plain }
    case .role(let role): model.roles[role.primaryKey] = role
    case .deleteStudio(let id): model.deleteStudio(id)
    case .deleteStudios(let id): for studio in 1...id { model.deleteStudio(studio) }
    case .deleteAllStudios: for studio in model.studios.keys { model.deleteStudio(studio) }
    case .deletePerformer(let id): model.deletePerformer(id)
    case .deleteAllPerformers: for performer in model.performers.keys { model.deletePerformer(performer) }
    case .deleteFilm(let id): model.deleteFilm(id)
    case .deleteFilmsOfStudio(let id):
      model.declareFilms()
      for film in model.films.values where film.studio.key == id { model.deleteFilm(film.id) }
    case .deleteRoles: model.roles = [:]
    case .moveFilms(let from, let to):
      model.declareFilms()
      for film in model.films.values where film.studio.key == from {
        model.films[film.id]?.studio = Reference(to)
      }
    }
  }
}

/// Records that refer to each other, in arrays, without any rule but those of deletion.
private struct RelationModel: Equatable {
  var studios: [Int: Studio] = [:]
  var performers: [String: Performer] = [:]
  var films: [Int: Film] = [:]
  var roles: [Role.Key: Role] = [:]
  /// What the store knows of films: their references begin with the first write of a version that declares them.
  var declaration = Declaration.absent

  enum Declaration { case absent, plain, withReferences }

  init() {}

  init(_ repository: Repository) throws {
    studios = Dictionary(uniqueKeysWithValues: try repository.fetch(Studio.self).map { ($0.id, $0) })
    performers = Dictionary(uniqueKeysWithValues: try repository.fetch(Performer.self).map { ($0.id, $0) })
    films = Dictionary(uniqueKeysWithValues: try repository.fetch(Film.self).map { ($0.id, $0) })
    roles = Dictionary(uniqueKeysWithValues: try repository.fetch(Role.self).map { ($0.primaryKey, $0) })
  }

  /// Whether each reference has its record.
  var isWhole: Bool {
    studios.values.allSatisfy { $0.parent.map { studios[$0.key] != nil } ?? true }
      && films.values.allSatisfy { film in
        guard declaration == .withReferences else { return true }
        return studios[film.studio.key] != nil && film.director.map { performers[$0.key] != nil } ?? true
      }
      && roles.values.allSatisfy { films[$0.film.key] != nil && performers[$0.actor.key] != nil }
  }

  /// A write to the films of a query begins their references, if the store has the model.
  mutating func declareFilms() { if declaration == .plain { declaration = .withReferences } }

  mutating func deleteStudio(_ id: Int) {
    guard studios.removeValue(forKey: id) != nil else { return }
    for studio in studios.values where studio.parent?.key == id { deleteStudio(studio.id) }
  }

  mutating func deletePerformer(_ id: String) {
    guard performers.removeValue(forKey: id) != nil else { return }
    for film in films.values where film.director?.key == id { films[film.id]?.director = nil }
  }

  mutating func deleteFilm(_ id: Int) {
    guard films.removeValue(forKey: id) != nil else { return }
    for role in roles.values where role.film.key == id { roles[role.primaryKey] = nil }
  }
}
