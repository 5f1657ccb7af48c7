import DataAccess
import PersistenceCore
import PersistenceDriver
import PersistenceRemote
import Synchronization
import Testing

@Suite("Answers that are not those of their requests")
struct AnswerCheckTests {
  private static func film(_ id: Int) -> String {
    #"{"budget":null,"day":null,"id":\#(id),"title":"t\#(id)"}"#
  }

  private static func lines(_ ids: [Int]) -> ScriptedServer.Reply {
    .init(
      status: 200, type: "application/x-ndjson", body: ids.map { film($0) + "\n" }.joined())
  }

  private static func films(_ server: ScriptedServer, _ mapping: RemoteMapping? = nil) throws
    -> RemoteDataSource<Film>
  {
    try RemoteServer(server.url, mapping: mapping).dataSource(of: Film.self)
  }

  @Test("the record of another key is an error, and never taken for the one that was asked for")
  func keys() async throws {
    let server = try ScriptedServer { _ in .json(Self.film(2)) }
    let films = try Self.films(server)
    let calls: [(String, () async throws -> Void)] = [
      ("find", { _ = try await films.find(1) }), ("delete", { _ = try await films.delete(Film(1)) }),
      ("insert", { try await films.insert(Film(1)) }), ("save", { try await films.save(Film(1)) }),
      ("update", { try await films.update(Film(1)) }),
      ("update, replacing", { try await films.update(Film(1, "new"), replacing: Film(1)) }),
    ]
    for (name, call) in calls {
      let error = await #expect(throws: PersistenceError.self, "\(name)") { try await call() }
      #expect(error?.code == .damaged && error?.model == "Film", "\(name)")
      #expect(error?.message.contains("the record of 2 instead of 1") == true, "\(name)")
    }
    #expect(server.requests.count == calls.count)
    #expect(try await films.find(2) == Film(2, "t2"))
  }

  @Test("a third-party server that answers another key is an error too, unless it assigned the key")
  func mapped() async throws {
    let server = try ScriptedServer { _ in .json(#"{"id":2,"title":"t2"}"#) }
    let films = try Self.films(server, RemoteMapping())
    for call in [
      { _ = try await films.find(1) }, { _ = try await films.save(Film(1)) },
      { _ = try await films.delete(Film(1)) },
    ] as [() async throws -> Void] {
      let error = await #expect(throws: PersistenceError.self) { try await call() }
      #expect(error?.code == .damaged)
    }
    #expect(try await films.insert(Film(1)) == Film(2, "t2"))
  }

  private static var answers: [([Int], FetchOptions<Film>)] {
    [
      ([1, 3, 2], FetchOptions()), ([1, 1], FetchOptions()), ([1, 2, 3], FetchOptions(limit: 2)),
      ([1], FetchOptions(limit: 0)), ([1, 2], FetchOptions(sorting: [.init(\.id, order: .descending)])),
      ([2, 1], FetchOptions(sorting: [.init(\.title)])), ([5, 6], FetchOptions(after: Film(5))),
      ([4, 6], FetchOptions(after: Film(5))),
    ]
  }

  @Test("records out of order, repeated or beyond the limit are errors", arguments: answers.indices)
  func records(number: Int) async throws {
    let (ids, options) = Self.answers[number]
    let server = try ScriptedServer { _ in Self.lines(ids) }
    let films = try Self.films(server)
    let whole = await #expect(throws: PersistenceError.self) { try await films.execute(options) }
    #expect(whole?.code == .damaged)
    guard options.limit != 0 else { return }  // pages of none are not asked for
    let paged = await #expect(throws: PersistenceError.self) {
      for try await _ in films.pages(options, size: 1) {}
    }
    #expect(paged?.code == .damaged)
  }

  @Test("the answers of correct servers pass, in every order")
  func accepted() async throws {
    let films: [(ids: [Int], FetchOptions<Film>)] = [
      ([], FetchOptions(limit: 0)), ([1, 2], FetchOptions(limit: 2)), ([6, 9], FetchOptions(after: Film(5))),
      ([3, 1], FetchOptions(sorting: [.init(\.id, order: .descending)])),
      // All have no budget, so the key decides, in the direction of the order.
      ([3, 1], FetchOptions(sorting: [.init(\.budget, order: .descending)])),
    ]
    for (ids, options) in films {
      let server = try ScriptedServer { _ in Self.lines(ids) }
      #expect(try await Self.films(server).execute(options).map(\.id) == ids)
    }
  }

  @Test("a server that begins again after a broken answer is an error, and no endless sequence")
  func resumed() async throws {
    let server = try ScriptedServer { _ in
      // It breaks off in a line.
      .init(status: 200, type: "application/x-ndjson", body: Self.film(1) + "\n" + Self.film(2) + "\n{")
    }
    let films = try Self.films(server)
    var found: [Int] = []
    let error = await #expect(throws: PersistenceError.self) {
      for try await page in films.pages(FetchOptions(), size: 1) { found += page.map(\.id) }
    }
    #expect(error?.code == .damaged)
    #expect(found == [1, 2] && server.requests.count == 2)
  }

  @Test("a number of records below zero or above the limit is an error")
  func counts() async throws {
    for (count, limit) in [("-1", nil), ("4", 3)] as [(String, Int?)] {
      let server = try ScriptedServer { _ in .json("{\"count\":\(count)}") }
      let error = await #expect(throws: PersistenceError.self) {
        try await Self.films(server).count(FetchOptions(limit: limit))
      }
      #expect(error?.code == .damaged)
    }
  }

  @Test("layers keep what they hold when the remote one answers the record of another key")
  func layers() async throws {
    let isWrong = Atomic(false)
    let server = try ScriptedServer { _ in .json(Self.film(isWrong.load(ordering: .relaxed) ? 2 : 1)) }
    let local = try RepositoryDataSource<Film>.inMemory()
    let source = try LayeredDataSource(local: local, remote: try Self.films(server))
    #expect(try await source.find(1) == Film(1, "t1"))
    isWrong.store(true, ordering: .relaxed)
    let before = server.requests.count
    _ = try? await source.find(1)
    #expect(server.requests.count > before)
    #expect(try await local.find(1) == Film(1, "t1"))
    #expect(try await local.find(2) == nil)
  }
}
