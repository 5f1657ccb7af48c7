import DataAccess
import DataAccessTesting
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceRemote
import PersistenceServer
import TestSupport
import Testing

@Suite("Updates of layers over a served store")
struct LayeredUpdateTests {
  private static let following = FollowingOptions(
    retry: RetryPolicy(firstDelay: .milliseconds(1), longestDelay: .milliseconds(10)))

  private static func layers(
    _ url: String, local: any PersistentRepository, cache: CacheDataSource<Film>? = nil,
    change: (inout LayerOptions<Film>) -> Void = { _ in }
  ) throws -> LayeredDataSource<Film> {
    var options = LayerOptions<Film>()
    options.remote = LayerLimits(timeout: .seconds(30), retry: .once)
    options.outbox = RetryPolicy(
      attempts: 3, firstDelay: .milliseconds(1), longestDelay: .milliseconds(10), jitter: 0)
    change(&options)
    let remote = try RemoteServer(url, token: RunningServer.writeToken).dataSource(of: Film.self)
    return try LayeredDataSource(
      cache: cache, local: local.dataSource(of: Film.self), remote: remote, options: options)
  }

  /// Iterates until the objects are as expected.
  private static func wait(
    _ iterator: inout DataSourceStream<DataSourceUpdate<Film>>.AsyncIterator, until films: [Film]
  ) async throws {
    while let update = try await iterator.next() {
      if update.objects == films { return }
    }
    Issue.record("the observation ended before \(films)")
  }

  @Test(
    "A1: remote changes refresh the local layer, whose part stays whole",
    .timeLimit(.minutes(1)), arguments: ContextUnderTest.ours)
  func remoteChanges(context: ContextUnderTest) async throws {
    let local = try context.makeStore().open()
    let server = Repository(try Film.context([Film(1), Film(2)]))
    let storage = try #require(server.context.asStorageContext)
    let running = try await RunningServer.start(storage)
    let films = try Self.layers(running.url, local: local, cache: CacheDataSource<Film>())
    var iterator = films.updates(following: Self.following).makeAsyncIterator()
    let first = try #require(try await iterator.next())
    #expect(first.objects == [Film(1), Film(2)] && first.changes == .first)
    try server.save(Film(3, "new"))
    try await Self.wait(&iterator, until: [Film(1), Film(2), Film(3, "new")])
    try server.delete(Film(1))
    try server.save(Film(2, "changed"))
    try await Self.wait(&iterator, until: [Film(2, "changed"), Film(3, "new")])
    #expect(Array(try local.filter(Film.self).result()) == [Film(2, "changed"), Film(3, "new")])
    running.askToStop()
    try await running.ended()
    let offline = try await films.answer(to: FetchOptions())
    #expect(offline.isComplete && offline.source == .local)
    #expect(offline.value == [Film(2, "changed"), Film(3, "new")])
  }

  @Test(
    "A2: updates show own writes at once, and go on without a connection", .timeLimit(.minutes(1)))
  func ownWrites() async throws {
    let port = Int.random(in: 10_000..<32_000)  // not one that a client's connection could take meanwhile
    let local = Repository(MemoryContext())
    let context = try Film.context([Film(1)])
    let films = try Self.layers("http://127.0.0.1:\(port)", local: local) { $0.writes = .localFirst }
    let running = try await RunningServer.start(context, port: port)
    var iterator = films.updates(following: Self.following).makeAsyncIterator()
    #expect(try await iterator.next()?.objects == [Film(1)])
    running.askToStop()
    try await running.ended()
    try await films.save(Film(2, "own"))
    try await Self.wait(&iterator, until: [Film(1), Film(2, "own")])
    try Film.insert([Film(3, "other")], in: context)
    let again = try await RunningServer.start(context, port: port)
    try await Self.wait(&iterator, until: [Film(1), Film(2, "own"), Film(3, "other")])
    try await until { try await films.outbox?.count() == 0 }
    again.askToStop()
    try await again.ended()
  }

  @Test("layers of which none tells its changes cannot be observed")
  func unsupported() async throws {
    let films = try LayeredDataSource(cache: CacheDataSource<Film>())
    var iterator = films.updates().makeAsyncIterator()
    let error = await #expect(throws: PersistenceError.self) { try await iterator.next() }
    #expect(error?.code == .unsupported)
  }

  @Test("the states of an outbox show waiting, failing and set-aside entries", .timeLimit(.minutes(1)))
  func outboxStates() async throws {
    let server = try ScriptedServer { _ in .page(500) }
    let clock = TestClock()
    let films = try Self.layers(server.url, local: Repository(MemoryContext())) { options in
      options.writes = .localFirst
      options.remote = LayerLimits(retry: .once)
      options.clock = clock
    }
    let outbox = try #require(films.outbox)
    var iterator = outbox.states.makeAsyncIterator()
    #expect(try await iterator.next() == OutboxState(waiting: 0, failed: 0, setAside: 0))
    try await films.save(Film(1))
    var seen: [OutboxState] = []
    while let state = try await iterator.next() {
      seen.append(state)
      if state.failed == 1 { break }
    }
    #expect(seen.allSatisfy { $0.waiting == 1 && $0.setAside == 0 })
    #expect(seen.last?.error?.code == .engineFailure)
    // The delays between the attempts pass.
    try await until {
      clock.advance(by: .seconds(1))
      return try await outbox.setAside().count == 1
    }
    #expect(try await iterator.next() == OutboxState(waiting: 0, failed: 0, setAside: 1))
    try await outbox.discard(try #require(try await outbox.setAside().first))
    #expect(try await iterator.next() == OutboxState(waiting: 0, failed: 0, setAside: 0))
  }
}
