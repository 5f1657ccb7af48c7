import PersistenceCore

/// L1: references have their records at commit.
enum IntegrityChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "no write leaves a reference to an absent record, and the error names both", [.l1], dangling),
    ConformanceCheck(
      "within a transaction, the order of writes does not matter, so circles can be saved", [.l1], circles),
    ConformanceCheck("a reference is checked as the commit finds it, not as it was written", [.l1], mended),
    ConformanceCheck(
      "a nested transaction that rolls back takes the records with it that a reference needs", [.l1, .w3],
      nested),
    ConformanceCheck("many references in one transaction are all checked", [.l1], many),
    ConformanceCheck(
      "references are checked in a store that was opened again", [.l1], needs: [.writable, .durable], reopened
    ),
    ConformanceCheck(
      "a field of records of before becomes a reference, if none of them dangles", [.l1], declared),
    ConformanceCheck("a reference is indexed, unless a key or an index begins with it", [.l4], indexed),
    ConformanceCheck(
      "a reference to a model that the context does not support is refused", [.l10], unsupported),
    ConformanceCheck("a reference compares and sorts as its key", [.l4], compared),
  ]

  /// Two studios, two actors, three films and two roles.
  static func filled(_ context: ContextUnderTest) throws -> Repository {
    let repository = Repository(try context.makeStore().open().context)
    try fill(repository)
    return repository
  }

  static func fill(_ repository: Repository) throws {
    try repository.save(contentsOf: [Studio(1, "A24"), Studio(2, "Ghibli")])
    try repository.save(contentsOf: [Performer("ada", age: 30), Performer("bob", age: 60)])
    try repository.save(contentsOf: [
      Film(1, "Moonlight", studio: 1, director: "ada"), Film(2, "Ponyo", studio: 2, director: "bob"),
      Film(3, "Aftersun", studio: 1),
    ])
    try repository.save(contentsOf: [Role(1, "bob", "lead"), Role(2, "ada", "extra")])
  }

  @Sendable private static func dangling(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    let films = try Array(repository.fetch(Film.self))
    let error = try expectError(.brokenReference) { try repository.insert(Film(7, studio: 9)) }
    try expect(error.model, equals: "Film")
    try expect(error.field, equals: "studio")
    try expect(error.key, equals: RecordKey([.integer(7)]))
    try expect(error.message.contains("Studio 9"), "the message names the absent record")
    try expectErrors(
      .brokenReference,
      calls: { try repository.save(Film(1, studio: 9)) }, { try repository.update(Film(1, studio: 9)) },
      { try repository.write(Film.self, id: 1) { $0.director = Reference("nobody") } },
      { try repository.filter(Film.self).update(.set(\.studio, to: Reference(9))) },
      { try repository.save(contentsOf: [Film(8, studio: 1), Film(9, studio: 3)]) },
      { try repository.insert(Role(1, "nobody")) }, { try repository.save(Twin(1, 2)) },
      {
        try repository.transaction { store in
          try store.insert(Studio(3))
          try store.insert(Film(9, studio: 4))
          return ()
        }
      })
    try expect(Array(repository.fetch(Film.self)), equals: films)
    try expect(repository.count(Studio.self), equals: 2)
    try expect(repository.count(Role.self), equals: 2)
    try expect(repository.count(Twin.self), equals: 0)
    try repository.filter(Film.self).update(.set(\.director, to: nil))
    try repository.save(Film(4, studio: 1))
  }

  @Sendable private static func circles(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    try repository.save(contentsOf: [Twin(1, 2), Twin(2, 3), Twin(3, 1)])
    try repository.save(Twin(4, 4))
    try repository.transaction { store in
      try store.insert(Film(10, studio: 10))
      try store.transaction { try $0.insert(Studio(10)) }
    }
    try expect(repository.find(Film.self, id: 10)?.studio, equals: Reference(10))
    try repository.transaction { store in
      for id in 1...3 { try store.delete(Twin.self, id: id) }
    }
    try expect(repository.fetch(Twin.self).map(\.id), equals: [4])
  }

  @Sendable private static func mended(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    try repository.transaction { store in
      try store.insert(Film(10, studio: 99))
      try store.write(Film.self, id: 10) { $0.studio = Reference(1) }
      try store.insert(Film(11, studio: 98))
      try store.delete(Film.self, id: 11)
      try store.delete(Studio.self, id: 2)
      try store.insert(Studio(2, "again"))
    }
    try expect(repository.find(Film.self, id: 10)?.studio, equals: Reference(1))
    try expectError(.brokenReference) {
      try repository.transaction { store in
        try store.insert(Studio(5))
        try store.insert(Film(12, studio: 5))
        try store.delete(Studio.self, id: 5)
      }
    }
    try expect(repository.find(Film.self, id: 12) == nil)
  }

  @Sendable private static func nested(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    try expectError(.brokenReference) {
      try repository.transaction { store in
        try store.insert(Film(10, studio: 50))
        try expectThrows(SuiteError()) {
          try store.transaction { inner in
            try inner.insert(Studio(50))
            try inner.insert(Film(11, studio: 50))
            throw SuiteError()
          }
        }
      }
    }
    try repository.transaction { store in
      try expectThrows(SuiteError()) {
        try store.transaction { inner in
          try inner.insert(Film(10, studio: 50))
          throw SuiteError()
        }
      }
    }
    try expect(repository.count(Film.self), equals: 3)
  }

  @Sendable private static func many(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    let count = context.effort.times(2_500, thorough: 25_000)
    try repository.transaction { store in
      try store.insert(contentsOf: (100..<100 + count).map { Film($0, studio: $0) })
      try store.insert(contentsOf: (100..<100 + count).map { Studio($0) })
    }
    try expectError(.brokenReference) {
      try repository.transaction { store in
        try store.insert(contentsOf: (200_000..<200_000 + count).map { Film($0, studio: $0) })
        try store.insert(contentsOf: (200_000..<200_000 + count - 1).map { Studio($0) })
      }
    }
    try expect(repository.count(Film.self), equals: 3 + count)
  }

  @Sendable private static func reopened(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    try fill(repository)
    try store.reopen(&repository)
    try expectError(.brokenReference) { try repository.insert(Film(7, studio: 9)) }
    // Nothing in these calls knows of films, so the rules come from the store.
    try expectError(.brokenReference) { try repository.delete(Studio.self, id: 1) }
    try store.reopen(&repository)
    try expectError(.brokenReference) { try repository.deleteAll(Performer.self) }
    try repository.deleteAll(Role.self)
    try repository.deleteAll(Performer.self)
    try expect(repository.filter(Film.self, where: \.director == nil).count(), equals: 3)
  }

  @Sendable private static func declared(_ context: ContextUnderTest) throws {
    let repository = Repository(try context.makeStore().open().context)
    try repository.save(contentsOf: [PlainFilm(1, studio: 1), PlainFilm(2, studio: 9)])
    try repository.save(Studio(1))
    let error = try expectError(.brokenReference) { try repository.save(Film(3, studio: 1)) }
    try expect(error.key, equals: RecordKey([.integer(2)]))
    try expect(repository.count(Film.self), equals: 2)
    try repository.delete(PlainFilm.self, id: 2)
    try repository.save(Film(3, studio: 1))
    // Programs that do not know of the reference keep it too.
    try expectError(.brokenReference) { try repository.save(PlainFilm(4, studio: 9)) }
    try expectError(.brokenReference) { try repository.delete(Studio.self, id: 1) }
  }

  @Sendable private static func indexed(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    let storage = try repository.storage
    let film = try require(storage.schema(named: "Film"))
    try expect(Set(film.indexes.map(\.fields)), equals: [["studio"], ["director"]])
    let role = try require(storage.schema(named: "Role"))
    try expect(role.indexes.map(\.fields), equals: [["actor"]])
  }

  @Sendable private static func unsupported(_ context: ContextUnderTest) throws {
    let repository = Repository(try context.makeStore().open().context)
    try expectError(.invalidSchema) { try repository.save(Memo(1, note: nil)) }
    try expectError(.invalidSchema) { try repository.save(Memo(1, note: 2)) }
    try expect(repository.storage.schema(named: "Memo") == nil, "nothing is defined")
  }

  @Sendable private static func compared(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    try expect(repository.filter(Film.self, where: \.studio == Studio(1)).ids(), equals: [1, 3])
    try expect(repository.filter(Film.self, where: \.studio != Studio(1)).ids(), equals: [2])
    try expect(repository.filter(Film.self, where: \.director == Performer("bob")).ids(), equals: [2])
    try expect(repository.filter(Film.self, where: \.director == nil).ids(), equals: [3])
    try expect(repository.filter(Film.self, where: \.studio > Reference(1)).ids(), equals: [2])
    try expect(repository.filter(Film.self, where: .in(\.studio, [Reference(2)])).ids(), equals: [2])
    try expect(repository.filter(Film.self).sorted(by: \.director).ids(), equals: [3, 1, 2])
    try expect(repository.filter(Film.self).count(by: \.studio).map(\.value), equals: [2, 1])
    let film = try require(repository.find(Film.self, id: 1))
    try expect(repository.find(film.studio)?.name, equals: "A24")
    try expect(repository.find(film.director)?.age, equals: 30)
    try expect(repository.find(Film(9, studio: 9).director) == nil)
  }
}
