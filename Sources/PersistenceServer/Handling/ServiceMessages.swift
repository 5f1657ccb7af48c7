import Foundation
import PersistenceDriver
import PersistenceHTTP
import PersistencePrimitives
import Synchronization

/// A request, independent of the HTTP framework.
struct ServiceRequest: Sendable {
  enum Method: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"

    /// Whether the method can change data.
    var isWriting: Bool { self == .put || self == .delete || self == .post }
  }

  var method: Method
  var path: WirePath
  var parameters: String?
  /// The body; empty if there is none.
  var body: [UInt8] = []
  var ifMatch: String?
  var ifNoneMatch: String?
  var idempotencyKey: String?
  /// Whether the client accepts one record per line.
  var wantsLines = false

  static func methods(of path: WirePath) -> [Method] {
    switch path {
    case .health, .description, .models: [.get, .head]
    case .model: [.get, .head, .put]
    case .records: [.get, .head, .post]
    case .record: [.get, .head, .put, .delete]
    case .query, .count: [.get, .head, .post]
    case .batches: [.post]
    }
  }

  /// Whether the request needs permission to write.
  ///
  /// A query in a body does not.
  var isWriting: Bool {
    switch path {
    case .query, .count: false
    default: method.isWriting
    }
  }

  /// Whether the request needs the store.
  ///
  /// A health check does not, so it works while the store is busy.
  var needsStore: Bool { path != .health }

  var hasBody: Bool { method == .post || method == .put }

  func json() throws -> JSONValue {
    do {
      return try body.withUnsafeBytes { try JSONParser.parse($0) }
    } catch let error as JSONSyntaxError {
      throw PersistenceError.invalidRequest("the body is not valid JSON: \(error)")
    }
  }

  func parameters(known: Set<String>) throws -> QueryParameters {
    try QueryParameters(parameters.map { $0[...] }, known: known)
  }

  /// The tags of the If-Match header, one of which the stored record must have.
  func ifMatchTags() throws -> EntityTag.List? {
    try ifMatch.map { try Self.list(EntityTag.List($0), "If-Match") }
  }

  /// The tags of the If-None-Match header, none of which the stored record may have.
  func ifNoneMatchTags() throws -> EntityTag.List? {
    try ifNoneMatch.map { try Self.list(EntityTag.List($0, matchesWeakly: true), "If-None-Match") }
  }

  private static func list(_ list: EntityTag.List?, _ name: String) throws -> EntityTag.List {
    guard let list else { throw PersistenceError.invalidRequest("the header \(name) is malformed") }
    return list
  }
}

/// The answer to a request, independent of the HTTP framework.
struct Answer: Sendable {
  enum Body: Sendable {
    case none
    case json(String)
    case problem(String)
    /// A stream of records, one per line.
    case lines(RecordLines)
  }

  var status: Int
  var headers: [(name: String, value: String)] = []
  var body = Body.none

  static func json(_ value: JSONValue, status: Int = 200) -> Answer {
    Answer(status: status, body: .json(JSONText.canonical(value)))
  }

  static func record(_ line: String, status: Int = 200) -> Answer {
    Answer(status: status, headers: [("ETag", EntityTag(ofLine: line).text)], body: .json(line))
  }

  static func problem(_ problem: Problem) -> Answer {
    var answer = Answer(status: problem.status, body: .problem(JSONText.canonical(problem.json)))
    switch problem.status {
    case 401: answer.headers.append(("WWW-Authenticate", "Bearer"))
    case 503: answer.headers.append(("Retry-After", "1"))
    default: break
    }
    return answer
  }
}

/// The records of a query as lines, in chunks, for a streamed answer.
///
/// It holds a snapshot while it exists. One request uses it.
final class RecordLines: Sendable {
  private let results: any StorageResults
  private let writer: RecordWriter
  private let progress = Mutex(Progress())

  private struct Progress {
    var offset = 0
    var rows = 64
    var isAtEnd = false
  }

  private struct EndOfChunk: Error {}

  /// The maximum size of a chunk in bytes, apart from its last record.
  private static let chunkSize = 128 << 10

  init(_ results: any StorageResults, _ schema: ModelSchema) {
    self.results = results
    writer = RecordWriter(schema)
  }

  /// The next lines; nil at the end.
  func next() throws -> [UInt8]? {
    var progress = progress.withLock(\.self)
    if progress.isAtEnd { return nil }
    var (bytes, read) = ([UInt8](), 0)
    do {
      _ = try results.read(from: progress.offset, limit: progress.rows) { row in
        // The estimated number of rows can be too high, since records have no size limit.
        guard bytes.count < Self.chunkSize else { throw EndOfChunk() }
        try writer.append(row, to: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        read += 1
      }
      progress.isAtEnd = read < progress.rows
    } catch is EndOfChunk {}
    progress.offset += read
    // Estimate the rows of the next chunk from the size of these.
    if read > 0 { progress.rows = min(4096, max(1, Self.chunkSize * read / max(1, bytes.count))) }
    let next = progress
    self.progress.withLock { $0 = next }
    return bytes.isEmpty ? nil : bytes
  }
}
