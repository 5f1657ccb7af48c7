import DataAccess
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriver
import PersistenceRemote
import PersistenceServer
import Testing

@Suite("Updates of a served store")
struct RemoteUpdateTests {
  private static let following = FollowingOptions(
    retry: RetryPolicy(firstDelay: .milliseconds(1), longestDelay: .milliseconds(10)))

  private static func films(_ url: String) throws -> RemoteDataSource<Film> {
    try RemoteServer(url, token: RunningServer.readToken).dataSource(of: Film.self)
  }

  @Test(
    "D1: each update has the new result and its changes, and commits that cannot affect it are no update",
    .timeLimit(.minutes(1)), arguments: ContextUnderTest.ours)
  func results(context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open()
    let storage = try #require(repository.context.asStorageContext)
    try repository.insert(contentsOf: [Film(1, "a"), Film(2, "b"), Film(9, "z")])
    try await RunningServer.with(storage) { server in
      let updates = try Self.films(server.url).filter(where: \.id < 5).sorted(by: \.title)
        .updates(Self.following)
      var iterator = updates.makeAsyncIterator()
      let first = try #require(try await iterator.next())
      #expect(first.objects == [Film(1, "a"), Film(2, "b")] && first.changes == .first)
      try repository.save(Film(9, "zz"))
      try repository.save(Film(3, "0"))
      let second = try #require(try await iterator.next())
      #expect(second.objects == [Film(3, "0"), Film(1, "a"), Film(2, "b")])
      #expect(second.changes == .keys(ChangedKeys(inserted: [Film(3).recordKey])))
      try repository.transaction {
        try $0.save(Film(1, "c"))
        try $0.delete(Film(2))
      }
      let third = try #require(try await iterator.next())
      #expect(third.objects == [Film(3, "0"), Film(1, "c")])
      #expect(
        third.changes == .keys(ChangedKeys(updated: [Film(1).recordKey], deleted: [Film(2).recordKey])))
      // Saving the same state again is no change.
      try repository.save(Film(1, "c"))
      try repository.delete(Film(3))
      let fourth = try #require(try await iterator.next())
      #expect(fourth.changes == .keys(ChangedKeys(deleted: [Film(3).recordKey])))
    }
  }

  @Test("D1: an observer goes on at a restarted server, with what changed meanwhile", .timeLimit(.minutes(1)))
  func restarted() async throws {
    let port = Int.random(in: 10_000..<32_000)  // not one that a client's connection could take meanwhile
    let context = try Film.context([Film(1)])
    let updates = try Self.films("http://127.0.0.1:\(port)").updates(options: Self.following)
    var iterator = updates.makeAsyncIterator()
    let first = try await RunningServer.start(context, port: port)
    #expect(try await iterator.next()?.objects == [Film(1)])
    first.askToStop()
    try await first.ended()
    try Film.insert([Film(2)], in: context)
    let second = try await RunningServer.start(context, port: port)
    let update = try #require(try await iterator.next())
    #expect(update.objects == [Film(1), Film(2)])
    #expect(update.changes == .keys(ChangedKeys(inserted: [Film(2).recordKey])))
    second.askToStop()
    try await second.ended()
  }

  @Test("D1: a slow consumer gets the newest state with all changes", .timeLimit(.minutes(1)))
  func coalesced() async throws {
    let context = try Film.context([Film(1)])
    try await RunningServer.with(context) { server in
      var iterator = try Self.films(server.url).updates(options: Self.following).makeAsyncIterator()
      _ = try await iterator.next()
      for id in 2..<50 { try Film.insert([Film(id)], in: context) }
      var inserted: [RecordKey] = []
      var objects: [Film] = []
      while objects.count < 49 {
        let update = try #require(try await iterator.next())
        inserted += try #require(update.changes.keys).inserted
        objects = update.objects
      }
      #expect(inserted.count == 48 && Set(inserted) == Set((2..<50).map { Film($0).recordKey }))
    }
  }

  @Test("an observer whose token is revoked ends with unauthorized", .timeLimit(.minutes(1)))
  func revoked() async throws {
    try await RunningServer.with(try Film.context([Film(1)])) { server in
      var iterator = try Self.films(server.url).updates(options: Self.following).makeAsyncIterator()
      _ = try await iterator.next()
      try server.server.replaceTokens(AccessTokens(write: [RunningServer.writeToken]))
      let error = await #expect(throws: PersistenceError.self) { try await iterator.next() }
      #expect(error?.code == .unauthorized)
    }
  }

  @Test("cancelling the task ends the observation, and other servers do not tell changes")
  func ending() async throws {
    try await RunningServer.with(try Film.context([Film(1)])) { server in
      let films = try Self.films(server.url)
      let (firsts, continuation) = AsyncStream.makeStream(of: Int.self)
      let task = Task {
        var count = 0
        for try await update in films.updates(options: Self.following) {
          count += 1
          continuation.yield(update.objects.count)
        }
        return count
      }
      for await count in firsts {
        #expect(count == 1)
        break
      }
      task.cancel()
      #expect(try await task.value == 1)
      let other = try RemoteServer(server.url, mapping: RemoteMapping()).dataSource(of: Film.self)
      var iterator = other.updates().makeAsyncIterator()
      let error = await #expect(throws: PersistenceError.self) { try await iterator.next() }
      #expect(error?.code == .unsupported)
    }
  }

  @Test("events from proxies and damaged ones are errors, lost connections are made again")
  func scripted() async throws {
    let changes = #"{"checkpoint":"A","deleted":[],"hasMore":false,"saved":[]}"#
    @Sendable func event(_ name: String, _ data: String) -> ScriptedServer.Reply {
      .init(
        status: 200, type: "text/event-stream",
        body:
          ": sign of life\r\n\r\nid: A\r\nevent: later\ndata: {}\n\nevent: \(name)\r\ndata: \(data)\r\n\r\n")
    }
    let failures = LockedCount()
    let server = try ScriptedServer { request in
      switch failures.next() {
      case 1: return .page(502)
      case 2: return .page(503)
      default:
        return request.parameters["since"] == nil ? event("changes", changes) : event("changes", "{")
      }
    }
    let films = try RemoteServer(server.url).dataSource(of: Film.self)
    var iterator = films.followedChanges(options: Self.following).makeAsyncIterator()
    #expect(try await iterator.next()?.checkpoint == DataSourceCheckpoint("A"))
    // The connection has ended, and the next one continues after the last checkpoint.
    let error = await #expect(throws: PersistenceError.self) { try await iterator.next() }
    #expect(error?.code == .damaged)
    #expect(server.requests.last?.parameters["since"] == "A")
    let login = try ScriptedServer { _ in .page(200) }
    var other = try RemoteServer(login.url).dataSource(of: Film.self).changeEvents(since: nil)
      .makeAsyncIterator()
    let refused = await #expect(throws: PersistenceError.self) { try await other.next() }
    #expect(refused?.code == .unreachable)
  }
}

/// Counts calls.
private final class LockedCount: @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0

  func next() -> Int {
    lock.withLock {
      count += 1
      return count
    }
  }
}
