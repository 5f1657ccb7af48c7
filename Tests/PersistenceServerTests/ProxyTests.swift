import DataAccess
import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceHTTP
import PersistenceRemote
import Synchronization
import Testing
import PersistencePrimitives

@Suite("Answers of proxies")
struct ProxyTests {
  private typealias Reply = ScriptedServer.Reply

  private static let answers: [(ScriptedServer.Reply, PersistenceError.Code)] = [
    (.page(404), .unreachable), (.page(409), .unreachable), (.page(410), .unreachable),
    (.page(412), .unreachable), (.page(400), .unreachable), (.page(302), .unreachable),
    (.page(502), .unreachable), (.page(503), .unreachable), (.page(504), .timedOut),
    (.page(500), .engineFailure), (.page(403), .unauthorized), (.page(429), .busy),
    (.page(413), .valueTooLarge),
    (.json(#"{"code":"notFound","message":"no route"}"#, status: 404), .unreachable),
    (
      Reply(status: 404, type: "application/problem+json", body: #"{"code":"notFound","title":"no route"}"#),
      .unreachable
    ),
    // A login page, and an empty page.
    (.page(200), .unreachable), (Reply(status: 200, type: "text/html", body: ""), .unreachable),
  ]

  @Test(
    "no answer of a proxy means that records are absent, deleted, rejected or empty", arguments: answers
  )
  func codes(answer: ScriptedServer.Reply, code: PersistenceError.Code) async throws {
    let server = try ScriptedServer { _ in answer }
    let films = try RemoteServer(server.url).dataSource(of: Film.self)
    let calls: [(String, () async throws -> Void)] = [
      ("find", { _ = try await films.find(1) }), ("delete", { _ = try await films.delete(Film(1)) }),
      ("insert", { _ = try await films.insert(Film(1)) }), ("save", { _ = try await films.save(Film(1)) }),
      ("update", { _ = try await films.update(Film(1), replacing: Film(1)) }),
      ("apply", { try await films.apply(ChangeBatch([.insert(Film(1))])) }),
      ("execute", { _ = try await films.execute(FetchOptions()) }),
      ("count", { _ = try await films.count(FetchOptions()) }),
      ("pages", { for try await _ in films.pages(FetchOptions(), size: 10) {} }),
    ]
    for (name, call) in calls {
      let error = await #expect(throws: PersistenceError.self, "\(name)") { try await call() }
      #expect(error?.code == code, "\(name)")
    }
  }

  @Test("answers of a proxy leave the layers unchanged")
  func layers() async throws {
    let isDeploying = Atomic(false)
    let server = try ScriptedServer { _ in
      if isDeploying.load(ordering: .relaxed) { return .page(404) }
      return .json(#"{"budget":null,"day":null,"id":1,"title":"kept"}"#)
    }
    let local = try RepositoryDataSource<Film>.inMemory()
    let source = try LayeredDataSource(
      local: local, remote: try RemoteServer(server.url).dataSource(of: Film.self))
    #expect(try await source.find(1) == Film(1, "kept"))
    isDeploying.store(true, ordering: .relaxed)
    #expect(try await source.find(1) == Film(1, "kept"))
    #expect(try await local.find(1) == Film(1, "kept"))
  }

  @Test("a stream without framing is rejected")
  func frames() async throws {
    let isFramed = Atomic(true)
    let server = try ScriptedServer { _ in
      Reply(
        status: 200, type: "application/x-ndjson",
        body: #"{"budget":null,"day":null,"id":1,"title":"t"}"# + "\n",
        isFramed: isFramed.load(ordering: .relaxed))
    }
    let films = try RemoteServer(server.url).dataSource(of: Film.self)
    #expect(try await films.execute(FetchOptions()) == [Film(1)])
    isFramed.store(false, ordering: .relaxed)
    let error = await #expect(throws: PersistenceError.self) { try await films.execute(FetchOptions()) }
    #expect(error?.code == .unreachable)
  }

  @Test("a request whose connection breaks is sent once, and the error says that a write may have happened")
  func broken() async throws {
    let server = try ScriptedServer { _ in .nothing }
    let films = try RemoteServer(server.url).dataSource(of: Film.self)
    let calls: [(String, () async throws -> Void)] = [
      ("insert", { _ = try await films.insert(Film(1)) }),
      ("apply", { try await films.apply(ChangeBatch([.insert(Film(1))])) }),
    ]
    for (position, (name, call)) in calls.enumerated() {
      let error = await #expect(throws: PersistenceError.self, "\(name)") { try await call() }
      #expect(error?.code == .unreachable, "\(name)")
      #expect(error?.message.contains("a write may have happened") == true, "\(name)")
      #expect(server.requests.count == position + 1, "\(name)")
    }
  }

  @Test("an answer above the size limit is not a rejection")
  func long() async throws {
    let server = try ScriptedServer { _ in
      .json("{\"id\":1,\"title\":\"\(String(repeating: "x", count: 10_000))\"}")
    }
    var options = RemoteOptions()
    options.answerSize = 5_000
    let films = try RemoteServer(server.url, options: options).dataSource(of: Film.self)
    let error = await #expect(throws: PersistenceError.self) { try await films.save(Film(1)) }
    #expect(error?.code == .inputOutput)
  }
}
