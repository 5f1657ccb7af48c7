import DataAccess
import DataAccessTesting
import PersistenceCore
import Testing

@Suite("Cache limits")
struct CacheDataSourceTests {
  private let notes = (0..<10).map { Note($0, rank: $0 % 2) }

  @Test("the cache evicts the least recently used objects and their coverage")
  func count() async throws {
    let cache = CacheDataSource<Note>(CacheDataSource.Limits(count: 5))
    let remote = try ScriptedDataSource(notes)
    var options = LayerOptions<Note>()
    options.remote.retry = .once
    let source = try LayeredDataSource(cache: cache, remote: remote, options: options)
    #expect(try await source.filter(where: \.rank == 1).result().count == 5)
    for id in [1, 3, 5, 7] { _ = try await cache.find(id) }
    _ = try await source.find(2)  // evicts 9
    #expect(cache.objectCount == 5 && cache.totalCost == 5)
    remote.answerOtherwise(.failure(PersistenceError(.unreachable, "gone")))
    #expect(try await source.find(2) == notes[2])
    #expect(try await source.find(1) == notes[1])
    await #expect(throws: PersistenceError.self) { try await source.find(9) }
    await #expect(throws: PersistenceError.self) { try await source.filter(where: \.rank == 1).result() }
    remote.answerOtherwise(.genuine)
    // A result beyond the limit is never complete.
    #expect(try await source.filter().result().count == 10)
    #expect(cache.objectCount == 5)
    remote.answerOtherwise(.failure(PersistenceError(.unreachable, "gone")))
    await #expect(throws: PersistenceError.self) { try await source.filter().result() }
  }

  @Test("the cost function determines the cost, and the cache keeps no object above the limit")
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

  @Test("expired objects are neither returned nor counted as coverage")
  func age() async throws {
    let clock = TestClock()
    let cache = CacheDataSource<Note>(CacheDataSource.Limits(age: .seconds(60))) { _ in
      1
    } now: {
      clock.date
    }
    let remote = try ScriptedDataSource(notes, clock: clock)
    let source = try LayeredDataSource(cache: cache, remote: remote, options: LayerTestBed.options(clock))
    _ = try await source.filter().result()
    clock.advance(by: .seconds(30))
    try await source.save(Note(1, "younger"))
    clock.advance(by: .seconds(30))
    remote.answerOtherwise(.failure(PersistenceError(.unreachable, "gone")))
    #expect(try await source.filter().result().count == 10)
    clock.advance(by: .seconds(1))
    #expect(cache.objectCount == 10)
    await #expect(throws: PersistenceError.self) { try await source.filter().result() }
    await #expect(throws: PersistenceError.self) { try await source.find(2) }
    #expect(try await source.find(1)?.text == "younger")
    #expect(cache.objectCount == 1)
  }

  @Test("emptying a large cache does not recurse deeply")
  func large() async throws {
    let cache = CacheDataSource<Note>(CacheDataSource.Limits(count: nil))
    try await cache.apply(ChangeBatch((0..<100_000).map { .save(Note($0)) }))
    #expect(cache.objectCount == 100_000)
    cache.removeAll()
    #expect(cache.objectCount == 0)
  }
}
