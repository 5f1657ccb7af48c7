import DataAccess
import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceRemote
import Testing

@Suite("Third-party servers")
struct MappedTests {
  /// A server with films that sorts text by locale, and returns at most three records per page.
  private static func server(_ titles: [String], total: Int? = nil, passesOver: Bool = true) throws
    -> ScriptedServer
  {
    try ScriptedServer { request in
      let parameters = request.parameters
      var films = titles.enumerated().map { (id: $0, title: $1) }
      if let wanted = parameters["title"] { films.removeAll { $0.title != wanted } }
      switch parameters["sort"] {
      case "title": films.sort { $0.title.lowercased() < $1.title.lowercased() }
      case "-title": films.sort { $0.title.lowercased() > $1.title.lowercased() }
      default: break
      }
      let offset = passesOver ? parameters["offset"].flatMap { Int($0) } ?? 0 : 0
      let limit = min(3, parameters["limit"].flatMap { Int($0) } ?? 3)
      let records = films.dropFirst(offset).prefix(limit).map {
        "{\"id\":\($0.id),\"title\":\"\($0.title)\"}"
      }
      return .json("{\"items\":[\(records.joined(separator: ","))],\"total\":\(total ?? films.count)}")
    }
  }

  private static func films(_ server: ScriptedServer, _ change: (inout RemoteMapping) -> Void = { _ in })
    throws -> RemoteDataSource<Film>
  {
    var mapping = RemoteMapping()
    mapping.records = ["items"]
    change(&mapping)
    return try RemoteServer(server.url, mapping: mapping).dataSource(of: Film.self)
  }

  private static let eight = (0..<8).map { "t\($0)" }

  @Test("shorter pages than requested are followed by the others")
  func shortPages() async throws {
    let server = try Self.server(Self.eight)
    #expect(try await Self.films(server).filter().result().map(\.id) == Array(0..<8))
    #expect(try await Self.films(server).filter().offset(1).limit(5).result().map(\.id) == Array(1..<6))
    #expect(try await Self.films(server).count(FetchOptions()) == 8)
    let before = server.requests.count
    #expect(try await Self.films(server) { $0.total = ["total"] }.filter().result().count == 8)
    // The total makes the final empty page unnecessary.
    #expect(server.requests.count == before + 3)
  }

  @Test("a premature end, or a repeated page, is an error")
  func wrongPages() async throws {
    let servers = [
      try Self.server(Self.eight, total: 9), try Self.server(Self.eight, passesOver: false),
      try Self.server(Self.eight),
    ]
    let short = try Self.films(servers[0]) { $0.total = ["total"] }
    let again = try Self.films(servers[1])
    let whole = try Self.films(servers[2]) {
      $0.total = ["total"]
      $0.offset = nil
    }
    for films in [short, again, whole] {
      let error = await #expect(throws: PersistenceError.self) { try await films.filter().result() }
      #expect(error?.code == .damaged)
    }
    #expect(servers.allSatisfy { !$0.requests.isEmpty })
  }

  @Test("queries that the server would misinterpret are not sent")
  func conditions() async throws {
    let server = try Self.server(["a", "b"])
    let films = try Self.films(server)
    #expect(try await films.filter(where: \.title == "b").result().map(\.id) == [1])
    #expect(try await films.filter(where: \.title == "b" && \.title == "b").result().map(\.id) == [1])
    let before = server.requests.count
    let both = await #expect(throws: PersistenceError.self) {
      try await films.filter(where: \.title == "a" && \.title == "b").result()
    }
    #expect(both?.code == .unsupported)
    let taken = try Self.films(server) { $0.members["title"] = "limit" }
    let other = await #expect(throws: PersistenceError.self) {
      try await taken.filter(where: \.title == "a").result()
    }
    #expect(other?.code == .unsupported)
    #expect(server.requests.count == before)
    let unpaged = try Self.films(server) { $0.offset = nil }
    #expect(try await unpaged.filter().offset(1).limit(.max).result().map(\.title) == ["b"])
    #expect(try await films.filter().offset(.max).limit(.max).result().isEmpty)
  }

  @Test("layers conclude nothing about absent objects from an order of the server")
  func order() async throws {
    let server = try Self.server(["b", "C", "a", "D"])
    let local = try RepositoryDataSource<Film>.inMemory()
    let source = try LayeredDataSource(
      cache: CacheDataSource<Film>(), local: local, remote: try Self.films(server))
    #expect(!source.hasContractOrder)
    #expect(try await source.filter().count() == 4)
    #expect(try await source.filter().result().count == 4)
    // Bytewise, b and a come before D and C, and this answer would lack them.
    let first = source.filter().sorted(by: \.title, inOrder: .descending).limit(2)
    #expect(try await first.result().map(\.title) == ["D", "C"])
    #expect(try await local.count(FetchOptions()) == 4)
  }
}
