import DataAccess
import DataAccessTesting
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import Synchronization
import Testing
import PersistenceDriverSupport

@Suite("Data access objects and their manager", .timeLimit(.minutes(2)))
struct DataAccessObjectTests {
  @Test("domain values are written, found and observed", arguments: ContextUnderTest.ours)
  func everyday(context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open()
    defer { try? repository.close() }
    let films = DataAccessObject(repository, try Film.mapper())
    var updates = films.updates(where: \.minutes > 90).makeAsyncIterator()
    #expect(try await updates.next()?.values() == [])
    let long = Film(title: "Long", length: FilmLength(minutes: 120))
    let short = Film(title: "Short", length: FilmLength(minutes: 9))
    try await films.insert(long)
    try await films.save(short)
    let update = try #require(await updates.next())
    #expect(try update.values() == [long])
    #expect(update.changes.keys?.inserted == [RecordKey([.uuid(long.id)])])

    #expect(try await films.find(long.id) == long)
    #expect(try await films.fetch(sorted: [SortCriterion(\.title)]).map(\.title) == ["Long", "Short"])
    #expect(try await films.fetch(where: \.searchText == "short") == [short])
    #expect(try await films.count(where: \.minutes > 90) == 1)
    var changed = long
    changed.year = 1980
    #expect(try await films.update(changed, replacing: long) == changed)
    let conflict = await #expect(throws: PersistenceError.self) {
      try await films.update(long, replacing: short.with(id: long.id))
    }
    #expect(conflict?.code == .conflict)
    let missing = await #expect(throws: PersistenceError.self) { try await films.update(Film()) }
    #expect(missing?.code == .notFound)
    #expect(try await films.delete(changed) == changed)
    #expect(try await films.delete(changed) == nil)
    try await films.save(contentsOf: [long, short])
    #expect(try await films.count() == 2)
  }

  @Test("the error of a rule becomes a PersistenceError, and nothing is written")
  func refusal() async throws {
    struct Refusal: Error {}
    let rules: [MappingRule<Film, StoredFilm>] = [
      .convert(
        \.length, \.minutes,
        toEntity: { length in
          if length.minutes < 0 { throw Refusal() }
          return length.minutes
        }, toDomain: { FilmLength(minutes: $0) }),
      .fill(\.searchText, from: \.title), .leaveOut(\.isSelected),
    ]
    let source = try RepositoryDataSource<StoredFilm>.inMemory()
    let films = DataAccessObject(
      source as any DataSource<StoredFilm>, try Mapper(blank: Film(), fields: Film.fields, rules: rules))
    let error = await #expect(throws: PersistenceError.self) {
      try await films.save(contentsOf: [Film(), Film(length: FilmLength(minutes: -1))])
    }
    #expect(error?.code == .encodingFailed)
    #expect(try await films.count() == 0)
    let unobserved = await #expect(throws: PersistenceError.self) {
      for try await _ in films.updates() {}
    }
    #expect(unobserved?.code == .unsupported)
  }

  @Test("every call after an exchange uses the new data sources, and calls in flight finish on the old ones")
  func exchange() async throws {
    let first = HeldContext(MemoryContext())
    let manager = DataAccessManager(Repository(first))
    let films = manager.dataAccess(try Film.mapper())
    let film = Film(title: "first")
    try await films.insert(film)

    first.hold()
    let inFlight = Task { try await films.save(Film(title: "under way")) }
    while first.waiting == 0 { await Task.yield() }
    let second = Repository(MemoryContext())
    let old = manager.exchange(for: second)
    #expect(try await films.count() == 0)
    try await films.insert(Film(title: "second"))

    let isClosed = Counter()
    let closing = Task {
      try await old.close()
      _ = isClosed.next()
    }
    for _ in 0..<1000 { await Task.yield() }
    #expect(isClosed.count == 0)
    first.letGo()
    #expect(try await inFlight.value.title == "under way")
    try await closing.value
    #expect(throws: PersistenceError.self) { try Repository(first).count(StoredFilm.self) }
    #expect(try second.count(StoredFilm.self) == 1)
    #expect(try await films.fetch().map(\.title) == ["second"])
  }

  @Test("updates continue with the new data sources, and do not prevent closing the old ones")
  func updatesAfterExchange() async throws {
    let manager = DataAccessManager(Repository(MemoryContext()))
    let films = manager.dataAccess(try Film.mapper())
    try await films.insert(Film(title: "old"))
    var updates = films.updates().makeAsyncIterator()
    #expect(try await updates.next()?.values().map(\.title) == ["old"])
    let second = Repository(MemoryContext())
    let waiting = Task { [updates] in
      var updates = updates
      return try await updates.next()
    }
    for _ in 0..<100 { await Task.yield() }
    let old = manager.exchange(for: second)
    try await old.close()
    let first = try #require(await waiting.value)
    #expect(first.changes == .first)
    #expect(try first.values().isEmpty)
    try await films.insert(Film(title: "new"))
    #expect(try await updates.next()?.values().map(\.title) == ["new"])
  }

  @Test(
    "with many exchanges beside many calls, each call uses one side, and all old data sources can be closed")
  func storm() async throws {
    let manager = DataAccessManager(Repository(MemoryContext()))
    let films = manager.dataAccess(try Film.mapper())
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for number in 0..<100 { try await films.insert(Film(title: "\(number)")) }
          return 100
        }
      }
      group.addTask {
        var kept = 0
        for _ in 0..<50 {
          let old = manager.exchange(for: Repository(MemoryContext()))
          try await old.finished()
          let repository = try #require(old.provider as? RepositoryDataSourceProvider).repository
          kept += try repository.count(StoredFilm.self)
          try await old.close()
        }
        return -kept
      }
      var rest = 0
      for try await number in group { rest += number }
      #expect(try await films.count() == rest)
    }
  }
}

extension Film {
  fileprivate func with(id: UUID) -> Film {
    var film = self
    film.id = id
    return film
  }
}

/// A context whose writers wait for a signal.
private final class HeldContext: StorageContextWrapper {
  let wrapped: any StorageContext
  private let state = Mutex((isHeld: false, waiting: 0))
  private let turn = NSCondition()

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  var waiting: Int { state.withLock(\.waiting) }
  func hold() { state.withLock { $0 = (isHeld: true, waiting: 0) } }
  func letGo() {
    turn.lock()
    state.withLock { $0.isHeld = false }
    turn.broadcast()
    turn.unlock()
  }

  func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    turn.lock()
    state.withLock { $0.waiting += 1 }
    while state.withLock(\.isHeld) { turn.wait() }
    turn.unlock()
    try wrapped.transaction(mode, body)
  }
}
