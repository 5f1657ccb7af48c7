import DataAccess
import Foundation
import Logging
import PersistenceConformance
import PersistenceCore
import PersistenceDriver
import PersistenceHTTP
import PersistenceRemote
import Testing
import PersistencePrimitives

@Suite("Remote server")
struct RemoteServerTests {
  @Test(
    "rejects sending a token in plain text to another machine",
    arguments: [
      "http://example.com", "HTTP://example.com:80/store", "http://10.0.0.1", "http://127.evil.com",
      "http://127.0.0.1.evil.com", "http://localhost.evil.com", "http://127.0.0", "http://[::2]:80",
      "http://[::1].evil.com", "http://127.0.0.1\\.evil.com",
    ])
  func plainText(url: String) throws {
    let error = #expect(throws: PersistenceError.self) { try RemoteServer(url, token: "secret-token") }
    #expect(error?.code == .invalidURL)
    #expect(error.map { "\($0)".contains("secret-token") } == false)
    #expect(throws: Never.self) { try RemoteServer(url) }
    var options = RemoteOptions()
    options.sendsTokenInPlainText = true
    #expect(throws: Never.self) { try RemoteServer(url, token: "secret-token", options: options) }
  }

  @Test(
    "sends a token over TLS, and on this machine",
    arguments: [
      "https://example.com", "http://127.0.0.1:8080", "http://127.8.9.10", "http://localhost:8080/store",
      "http://[::1]:8080", "http://[::1]",
    ])
  func token(url: String) throws {
    #expect(throws: Never.self) { try RemoteServer(url, token: "secret-token") }
  }

  @Test("gives the same answers if its URL names a token")
  func anyStores() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data("secret-token".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let url = "http://example.com?tokenfile=\(file.path)"
    let allowed = TokenSources(files: [file.path])
    let error = #expect(throws: PersistenceError.self) {
      try DataSources(opening: url, engines: [], tokenSources: allowed)
    }
    #expect(error?.code == .invalidURL && error?.message.contains("plaintext") == true)
    #expect(throws: Never.self) {
      try DataSources(opening: url + "&plaintext=true", engines: [], tokenSources: allowed)
    }
  }

  @Test("serves each declaration of a model in its own terms")
  func declarations() async throws {
    try await RunningServer.with(try Film.context([Film(1)])) { running in
      let server = try RemoteServer(running.url, token: RunningServer.writeToken)
      #expect(try await server.dataSource(of: Film.self).find(1) == Film(1))
      let other = server.dataSource(of: OtherFilm.self)
      #expect(try await other.find(1)?.id == 1)
      #expect(try await other.find(2) == nil)
      // The store requires a title, which this declaration lacks.
      let written = await #expect(throws: PersistenceError.self) { try await other.save(OtherFilm(id: 2)) }
      #expect(written?.code == .schemaMismatch && written?.field == "title")
      #expect(try await other.find(2) == nil)
      #expect(try await server.dataSource(of: Film.self).find(1) == Film(1))
    }
  }

  @Test("has a connection whatever the limit of its pool", .timeLimit(.minutes(1)), arguments: [0, -1])
  func connections(count: Int) async throws {
    let server = try ScriptedServer { _ in .json(#"{"budget":null,"day":null,"id":1,"title":"t"}"#) }
    var options = RemoteOptions()
    options.connections = count
    let films = try RemoteServer(server.url, options: options).dataSource(of: Film.self)
    #expect(try await films.find(1) == Film(1))
  }

  @Test("logs slow requests as configured at opening, without their values")
  func monitoring() async throws {
    let server = try ScriptedServer { _ in .page(503) }
    let log = LogRecorder()
    let sources = try DataSources(
      opening: server.url, engines: [], monitoring: Monitoring(logger: log.logger(.info), slowRequest: .zero))
    _ = try? await sources.dataSource(of: Film.self).find(471_183_920_555)
    #expect(log.lines().contains { $0.contains("slow request") && $0.contains(server.url) })
    #expect(server.requests.contains { $0.path.contains("471183920555") })
    #expect(!log.lines().contains { $0.contains("471183920555") })
  }
}

/// A film with another schema.
private struct OtherFilm: PersistentRecord {
  var id: Int
  static let schema = RecordSchema<OtherFilm>("Film", fields: [.field("id", \.id)], key: [\.id])
  var primaryKey: Int { id }

  init(id: Int) { self.id = id }
  init(from row: borrowing Row) throws { id = try row.decode(at: 0) }
  func encode(into row: RowBuffer) throws { row.encode(id, at: 0) }
}
