import DataAccess
import DataAccessTesting
import PersistenceCore
import Testing

@Suite("The limits of a cache")
struct CacheDataSourceTests {
  private let notes = (0..<10).map { Note($0, rank: $0 % 2) }

  @Test("what was not used for longest goes first, and with it the knowledge of what it was part of")
  func count() async throws {
    let cache = CacheDataSource<Note>(CacheDataSource.Limits(count: 5))
    let remote = try ScriptedDataSource(notes)
    var options = LayerOptions<Note>()
    options.remote.retry = .once
    let store = try LayeredDataSource(cache: cache, remote: remote, options: options)
    #expect(try await store.filter(where: \.rank == 1).result().count == 5)
    for id in [1, 3, 5, 7] { _ = try await cache.find(id) }
    _ = try await store.find(2)  // 9 has to go
    #expect(cache.objectCount == 5 && cache.totalCost == 5)
    remote.answerOtherwise(.failure(PersistenceError(.unreachable, "gone")))
    #expect(try await store.find(2) == notes[2])
    #expect(try await store.find(1) == notes[1])
    await #expect(throws: PersistenceError.self) { try await store.find(9) }
    await #expect(throws: PersistenceError.self) { try await store.filter(where: \.rank == 1).result() }
    remote.answerOtherwise(.genuine)
    // More than there is room for is never known whole.
    #expect(try await store.filter().result().count == 10)
    #expect(cache.objectCount == 5)
    remote.answerOtherwise(.failure(PersistenceError(.unreachable, "gone")))
    await #expect(throws: PersistenceError.self) { try await store.filter().result() }
  }

  @Test("objects cost what the cache is told, and one that costs too much is not kept")
  func cost() async throws {
    let cache = CacheDataSource<Note>(CacheDataSource.Limits(count: nil, cost: 100)) { $0.rank }
    for id in 0..<4 { try await cache.save(Note(id, rank: 30)) }
    #expect(cache.objectCount == 3 && cache.totalCost == 90)
    #expect(try await cache.find(0) == nil)
    try await cache.save(Note(1, rank: 10))
    #expect(cache.totalCost == 70)
    try await cache.save(Note(9, rank: 101))
    #expect(try await cache.find(9) == nil)
    #expect(cache.totalCost <= 100)
  }

  @Test("what is too old is not given out any more, nor counted as known")
  func age() async throws {
    let clock = TestClock()
    let cache = CacheDataSource<Note>(CacheDataSource.Limits(age: .seconds(60))) { _ in
      1
    } now: {
      clock.date
    }
    let remote = try ScriptedDataSource(notes, clock: clock)
    let store = try LayeredDataSource(cache: cache, remote: remote, options: LayerBench.options(clock))
    _ = try await store.filter().result()
    clock.advance(by: .seconds(30))
    try await store.save(Note(1, "younger"))
    clock.advance(by: .seconds(30))
    remote.answerOtherwise(.failure(PersistenceError(.unreachable, "gone")))
    #expect(try await store.filter().result().count == 10)
    clock.advance(by: .seconds(1))
    #expect(cache.objectCount == 10)
    await #expect(throws: PersistenceError.self) { try await store.filter().result() }
    await #expect(throws: PersistenceError.self) { try await store.find(2) }
    #expect(try await store.find(1)?.text == "younger")
    #expect(cache.objectCount == 1)
  }

  @Test("a large cache is emptied without a deep recursion")
  func large() async throws {
    let cache = CacheDataSource<Note>(CacheDataSource.Limits(count: nil))
    try await cache.apply(ChangeBatch((0..<100_000).map { .save(Note($0)) }))
    #expect(cache.objectCount == 100_000)
    cache.removeAll()
    #expect(cache.objectCount == 0)
  }
}
