import PersistenceCore
import PersistenceDriverSupport
import Synchronization

/// L7: included records.
enum InclusionChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "included records stand beside the record that refers to them, in the query's order", [.l7], referring),
    ConformanceCheck("all referring records are included in the order asked for, then by key", [.l7], lists),
    ConformanceCheck("inclusions nest, also through optional references and lists", [.l7], nested),
    ConformanceCheck("included records are of the result's moment", [.l7, .r2], moment),
    ConformanceCheck("a page takes one request, and one for each inclusion and level", [.l7], requests),
    ConformanceCheck("in a transaction, included records show its writes", [.l7, .r1a], inside),
    ConformanceCheck("an inclusion is a lazy collection like any result", [.l7, .r3], collection),
  ]

  @Sendable private static func referring(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    let query = repository.filter(Film.self).sorted(by: \.title)
    var lines: [String] = []
    for (film, studio, director) in try query.including(\.studio, \.director).result() {
      lines.append("\(film.title) \(studio.name) \(director?.id ?? "nil")")
    }
    try expect(lines, equals: ["Aftersun A24 nil", "Moonlight A24 ada", "Ponyo Ghibli bob"])
    let some = try query.limit(1).offset(1).including(\.director).including(\.studio).result()
    try expect(some.map { "\($0.0.id) \($0.1?.id ?? "nil") \($0.2.id)" }, equals: ["1 ada 1"])
    let found = try query.including(ifPresent: \.studio).result()
    try expect(found.map { $0.1?.id ?? 0 }, equals: [1, 1, 2])
    let first = try require(query.including(\.studio).first())
    try expect(first.1.name, equals: "A24")
    let filtered = try repository.filter(Film.self, where: .has(\.director)).including(\.director).result()
    try expect(filtered.map { $0.1?.age ?? 0 }, equals: [30, 60])
    try expect(repository.filter(Film.self, where: \.id > 99).including(\.studio).result().isEmpty)
  }

  @Sendable private static func lists(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    try repository.save(Studio(3))
    try repository.save(Film(4, "Aftersun", studio: 1))
    let result = try repository.filter(Studio.self)
      .including(all: \Film.studio, sorted: SortCriterion(\.title), SortCriterion(\.id, order: .descending))
      .including(count: \Film.studio).including(count: \Film.studio, where: .has(\.director)).result()
    let lines = result.map { studio, films, count, directed in
      "\(studio.id): \(films.map(\.id)) \(count) \(directed)"
    }
    try expect(lines, equals: ["1: [4, 3, 1] 3 1", "2: [2] 1 1", "3: [] 0 0"])
    let some = try repository.filter(Studio.self).including(all: \Film.studio, where: \.title < "B").result()
    try expect(some.map { $0.1.map(\.id) }, equals: [[3, 4], [], []])
    let aged = try repository.filter(Studio.self, where: \.id == 1)
      .including(all: \Film.studio, sorted: SortCriterion(\.director, \.age, order: .descending)).result()
    try expect(aged.map { $0.1.map(\.id) }, equals: [[1, 4, 3]])
    let actors = try repository.filter(Performer.self).including(all: \Film.director).including(
      all: \Role.actor
    ).result()
    try expect(
      actors.map { "\($0.0.id) \($0.1.map(\.id)) \($0.2.map(\.name))" },
      equals: [
        #"ada [1] ["extra"]"#, #"bob [2] ["lead"]"#,
      ])
  }

  @Sendable private static func nested(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    try repository.save(contentsOf: [Studio(3, "Plan B"), Studio(1, "A24", parent: 3)])
    let films = try repository.filter(Film.self).including(\.studio) { $0.including(\.parent) }.result()
    try expect(
      films.map { film, studio in "\(film.id) \(studio.0.id) \(studio.1?.id ?? 0)" },
      equals: [
        "1 1 3", "2 2 0", "3 1 3",
      ])
    let deep = try repository.filter(Studio.self, where: \.id < 3).including(\.parent) {
      $0.including(all: \Film.studio)
    }.result()
    try expect(
      deep.map { "\($0.0.id) \($0.1?.0.id ?? 0) \($0.1?.1.count ?? -1)" }, equals: ["1 3 0", "2 0 -1"])
    let roles = try repository.filter(Studio.self)
      .including(all: \Film.studio, sorted: SortCriterion(\.id, order: .descending)) {
        $0.including(all: \Role.film) { $0.including(\.actor) }
      }.result()
    let lines = roles.map { studio, films in
      "\(studio.id) " + films.map { film, roles in "\(film.id)\(roles.map { $0.0.name + $0.1.id })" }.joined()
    }
    try expect(lines, equals: [#"1 3[]1["leadbob"]"#, #"2 2["extraada"]"#, "3 "])
  }

  @Sendable private static func moment(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    try repository.save(contentsOf: (10..<400).map { Film($0, studio: 2) })
    let result = try repository.filter(Film.self).including(\.studio).result()
    let lists = try repository.filter(Studio.self).including(all: \Film.studio).result()
    try repository.transaction { store in
      try store.save(Studio(2, "new"))
      try store.save(Studio(3))
      try store.filter(Film.self, where: \.id > 300).update(.set(\.studio, to: Reference(3)))
      try store.filter(Film.self, where: \.id < 100).update(.set(\.studio, to: Reference(3)))
      try store.delete(Studio.self, id: 1)
    }
    try expect(result.count, equals: 393)
    try expect(Set(result.map(\.1.name)), equals: ["A24", "Ghibli"])
    try expect(lists.map { $0.1.count }, equals: [2, 391])
  }

  @Sendable private static func inside(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    try repository.transaction { try changes(in: $0) }
  }

  private static func changes(in store: any PersistentRepository) throws {
    try store.save(Studio(1, "new"))
    try store.save(Film(4, studio: 1))
    let result = try store.filter(Studio.self).including(all: \Film.studio).result()
    try store.delete(Film.self, id: 4)
    try expect(result.map { "\($0.0.name) \($0.1.count)" }, equals: ["new 3", "Ghibli 1"])
    try store.insert(Film(5, studio: 77))
    try expectError(.brokenReference) { _ = try store.filter(Film.self).including(\.studio).result() }
    let present = try store.filter(Film.self).including(ifPresent: \.studio).result()
    try expect(present.map { $0.1?.id ?? 0 }, equals: [1, 2, 1, 0])
    try store.delete(Film.self, id: 5)
  }

  @Sendable private static func collection(_ context: ContextUnderTest) throws {
    let repository = try IntegrityChecks.filled(context)
    try repository.save(contentsOf: (10..<1_000).map { Film($0, studio: $0 % 2 + 1) })
    let result = try repository.filter(Film.self).including(\.studio).result()
    try expect(result.count, equals: 993)
    try expect(result.dropFirst(500).prefix(3).map { $0.0.id }, equals: [507, 508, 509])
    try expect(result.allSatisfy { $0.0.studio == $0.1.reference })
    try expect(result.reversed().first?.0.id, equals: 999)
    var count = 0
    try result.forEach { film, studio in if film.studio == studio.reference { count += 1 } }
    try expect(count, equals: 993)
  }

  @Sendable private static func requests(_ context: ContextUnderTest) throws {
    let inner = try IntegrityChecks.filled(context)
    try inner.save(contentsOf: (10..<1_000).map { Film($0, studio: $0 % 2 + 1, director: "ada") })
    let counting = RequestCounter(try inner.storage)
    let repository = Repository(counting)
    try repository.deleteAll(Twin.self)
    func requests(_ body: () throws -> Void) rethrows -> Int {
      let before = counting.requests
      try body()
      return counting.requests - before
    }
    let films = repository.filter(Film.self)
    try expect(requests { _ = try films.limit(50).including(\.studio, \.director).result() }, equals: 3)
    try expect(
      requests {
        _ = try films.limit(50).including(\.studio) { $0.including(\.parent).including(count: \Film.studio) }
          .result()
      },
      equals: 3, "no studio has a parent to ask for")
    var pages = 0
    let all = try requests {
      var read = 0
      try films.including(\.studio).result().forEach { _ in read += 1 }
      pages = (read + PersistentResults<Film>.pageSize - 1) / PersistentResults<Film>.pageSize
    }
    // The first page may be short, or be read again as a part of the first whole one.
    try expect(all <= pages + 3, "\(all) requests for \(pages) pages")
    try expect(
      requests {
        _ = try repository.filter(Studio.self).including(all: \Film.studio) { $0.including(all: \Role.film) }
          .result()
      }, equals: 3)
  }
}

/// Counts the requests that reach a context.
private final class RequestCounter: StorageContextWrapper {
  let wrapped: any StorageContext
  private let count = Atomic(0)

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  var requests: Int { count.load(ordering: .relaxed) }

  func note() { count.add(1, ordering: .relaxed) }

  func wrap(_ snapshot: any StorageSnapshot) -> any StorageSnapshot { CountedSnapshot(snapshot, self) }
}

private final class CountedSnapshot: StorageSnapshotWrapper {
  let wrapped: any StorageSnapshot
  private let counter: RequestCounter

  init(_ wrapped: any StorageSnapshot, _ counter: RequestCounter) {
    (self.wrapped, self.counter) = (wrapped, counter)
  }

  func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
    counter.note()
    return try wrapped.find(key, in: schema, body)
  }

  func count(_ request: FetchRequest) throws -> Int {
    counter.note()
    return try wrapped.count(request)
  }

  func fetch(_ request: FetchRequest) throws -> any StorageResults {
    counter.note()
    return try wrapped.fetch(request)
  }

  func fetch(_ request: FetchRequest, selecting positions: [Int]) throws -> any StorageResults {
    counter.note()
    return try wrapped.fetch(request, selecting: positions)
  }

  func aggregate(_ request: AggregateRequest) throws -> [AggregateGroup] {
    counter.note()
    return try wrapped.aggregate(request)
  }
}
