import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import PersistenceCore
import PersistenceLMDB
import PersistenceSQLite
import PersistenceServer

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Serves a store of films on one port, and the same answers without a store on another.
///
/// The difference is the cost of this package; the rest is the framework's.
///
/// `Serving STORE-URL STORE-PORT BARE-PORT ROWS`; .ci/bench-server has the requests.
struct Film: PersistentRecord {
  var id: Int
  var title: String
  var rating: String?
  var budget: Double
  var releasedAt: Date?

  static let schema = RecordSchema<Film>(
    "Film",
    fields: [
      .field("id", \.id), .field("title", \.title), .field("rating", \.rating), .field("budget", \.budget),
      .field("releasedAt", \.releasedAt),
    ], key: [\.id], indexes: [RecordIndex(\.title)])
  var primaryKey: Int { id }

  init(_ id: Int) {
    self.id = id
    title = "The \(id &* 7919 % 100_003)th film of a long series"
    rating = id % 5 == 0 ? nil : ["G", "PG", "PG-13", "R"][id % 4]
    budget = Double(id &* 104_729 % 200_000_000)
    releasedAt = Date(timeIntervalSinceReferenceDate: Double(id * 86_400 % 700_000_000))
  }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    title = try row.decode(at: 1)
    rating = try row.decode(at: 2)
    budget = try row.decode(at: 3)
    releasedAt = try row.decode(at: 4)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(title, at: 1)
    row.encode(rating, at: 2)
    row.encode(budget, at: 3)
    row.encode(releasedAt, at: 4)
  }
}

SQLiteLibrary.tuneForParallelReads()
let arguments = CommandLine.arguments
guard arguments.count == 5, let storePort = Int(arguments[2]), let barePort = Int(arguments[3]),
  let rows = Int(arguments[4])
else {
  print("Serving STORE-URL STORE-PORT BARE-PORT ROWS")
  exit(3)
}
let repository = try Repository(opening: arguments[1], engines: [.sqlite, .lmdb])
if try repository.count(Film.self) == 0 {
  for start in stride(from: 0, to: rows, by: 10_000) {
    try repository.save(contentsOf: (start..<min(rows, start + 10_000)).map(Film.init))
  }
}
guard let storage = repository.context.asStorageContext else { exit(4) }
var logger = Logger(label: "bench")
logger.logLevel = .error
let server = StoreServer(
  storage, tokens: try AccessTokens(read: ["a-token-that-may-read"], write: ["a-token-that-may-write"]),
  logger: logger)

/// The answer of the store's server, byte for byte.
func answer(_ path: String) async throws -> ByteBuffer {
  var request = URLRequest(
    url: URL(string: "http://127.0.0.1:\(storePort)\(path)") ?? URL(fileURLWithPath: "/"))
  request.setValue("Bearer a-token-that-may-read", forHTTPHeaderField: "Authorization")
  return ByteBuffer(bytes: try await URLSession.shared.data(for: request).0)
}

try await withThrowingTaskGroup(of: Void.self) { group in
  let (listening, continuation) = AsyncStream.makeStream(of: Int.self)
  group.addTask { try await server.run(port: storePort) { continuation.yield($0) } }
  for await _ in listening { break }
  let page = try await answer("/models/Film/records?sort=title&limit=50")
  let point = try await answer("/models/Film/records/77")
  print("point \(point.readableBytes) bytes, page \(page.readableBytes) bytes")
  let bare = Application(
    responder: CallbackResponder<BasicRequestContext> { request, _ in
      let body = request.uri.path.hasSuffix("/records") ? page : point
      return Response(
        status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
        body: .init(byteBuffer: body))
    },
    configuration: .init(address: .hostname("127.0.0.1", port: barePort)), logger: logger)
  group.addTask { try await bare.run() }
  try await group.next()
}
