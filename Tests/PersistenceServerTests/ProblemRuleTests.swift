import DataAccess
import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistenceRemote
import Testing

@Suite("Problems of error codes")
struct ProblemRuleTests {
  /// The codes that the sources of these products declare; clients and tools declare the others.
  private static func declaredCodes() throws -> [PersistenceError.Code] {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    var codes: [PersistenceError.Code] = []
    for product in ["PersistenceDriver", "PersistenceDriverSupport", "PersistenceHTTP"] {
      let folder = root.appending(path: "Sources/\(product)")
      let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
      for case let file as URL in files where file.pathExtension == "swift" {
        let text = try String(contentsOf: file, encoding: .utf8)
        guard text.contains("extension PersistenceError.Code") else { continue }
        codes += text.matches(of: /static let [A-Za-z]+ = Self\(rawValue: "([A-Za-z]+)"\)/)
          .map { PersistenceError.Code(rawValue: String($0.1)) }
      }
    }
    return codes
  }

  @Test("E2 every error code has a decision on what clients receive")
  func decisions() throws {
    let codes = try Self.declaredCodes()
    #expect(codes.count >= 40 && codes.contains(.unreachable) && codes.contains(.batchReused))
    for code in codes { #expect(ProblemRule.rules[code] != nil, "\(code) has no rule in ProblemRule.rules") }
  }

  @Test(
    "E2 a problem hides what a backend says of itself",
    arguments: [.unauthorized, .untrustedServer] as [PersistenceError.Code])
  func secrets(code: PersistenceError.Code) {
    let problem = Problem(PersistenceError(code, "check pg_hba.conf", model: "Film"))
    #expect(problem.status == 503 && problem.code == .unreachable)
    #expect(!problem.detail.contains("pg_hba") && problem.model == nil)
  }

  @Test(
    "D2 an outage of the server's store is an error that a client retries",
    arguments: [.unreachable, .unauthorized, .untrustedServer, .closed, .snapshotExpired, .changedOutside]
      as [PersistenceError.Code])
  func outages(code: PersistenceError.Code) async throws {
    let context = FailingContext(try Film.context([Film(1)]), PersistenceError(code, "gone"))
    try await RunningServer.with(context) { server in
      let films = try RemoteServer(server.url, token: RunningServer.readToken).dataSource(of: Film.self)
      let error = await #expect(throws: PersistenceError.self) { try await films.count(FetchOptions()) }
      #expect(error?.isRetryable == true, "\(String(describing: error))")
      #expect(try await WireClient(port: server.port)("GET", "/models/Film/count").status == 503)
    }
  }
}

/// A context whose counts fail.
private final class FailingContext: StorageContextWrapper {
  let wrapped: any StorageContext
  private let error: PersistenceError

  init(_ wrapped: any StorageContext, _ error: PersistenceError) {
    (self.wrapped, self.error) = (wrapped, error)
  }

  func count(_ request: FetchRequest) throws -> Int { throw error }
}
