import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import Synchronization

extension StoreResponder {
  /// A client of one connection, as its last request shows it.
  final class Client: Sendable {
    let connection: Connection
    private let token = Mutex<Int?>(nil)

    init(_ connection: Connection) { self.connection = connection }

    func set(_ number: Int?) { token.withLock { $0 = number } }

    /// Whose reads count together.
    var admission: ReadAdmission.Client {
      ReadAdmission.Client(token: token.withLock(\.self), peer: connection.peer)
    }
  }

  /// Reads the next bytes of an answer when the budget of all answers allows it; nil if there are none.
  func readWithinBudget(
    for client: Client, _ body: @escaping @Sendable () throws -> [UInt8]?
  ) async throws -> [UInt8]? {
    let hasWaited = budget.isFull
    if hasWaited { try await limited(client) { try await budget.wait($0) } }
    var bytes: [UInt8]?
    // An answer without bytes is never received, which would let the next one continue.
    defer { if hasWaited, bytes == nil { budget.remove(0) } }
    bytes = try await read(for: client, body)
    return bytes
  }

  /// Runs a read of a client on a thread, until its time has passed or the client has gone.
  func read<Result: Sendable>(
    for client: Client, _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await limited(client) { interruption in
      let permit = try await admission.enter(client.admission, interruption)
      return try await reading.run(until: interruption) {
        defer { permit.end() }
        return try body()
      }
    }
  }

  /// Runs a closure that its interruption ends after the time of a request, or when the client has gone.
  func limited<Result>(
    _ client: Client, _ body: (ReadInterruption) async throws -> Result
  ) async throws -> Result {
    let (interruption, time) = (ReadInterruption(), service.limits.requestTime)
    let timer = DeadlineTimer(after: time) {
      interruption.request(PersistenceError(.timedOut, "the request took longer than \(time)"))
    }
    defer { timer.cancel() }
    return try await client.connection.whileConnected(interruption) { try await body(interruption) }
  }
}

extension StoreResponder {
  func response(_ answer: Answer, to request: Request, of client: Client) -> Response {
    var headers = HTTPFields()
    for (name, value) in answer.headers {
      if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
    }
    let isHead = request.method == .head
    let isRead = isHead || request.method == .get
    // A private cache may keep an answer that it can check again; a shared one must not.
    headers[.cacheControl] =
      isRead && answer.status < 400 && headers[.eTag] != nil ? "private, no-cache" : "no-store"
    if isRead {
      headers.append(HTTPField(name: .vary, value: "Accept"))
      headers.append(HTTPField(name: .vary, value: "Authorization"))
    }
    if let name = HTTPField.Name("X-Content-Type-Options") { headers[name] = "nosniff" }
    if answer.isCompressible { headers.append(HTTPField(name: .vary, value: "Accept-Encoding")) }
    if answer.isCompressible, !isHead, let name = HTTPField.Name(RequestGuard.compressionMark) {
      headers[name] = "1"
    }
    let body: ResponseBody
    switch answer.body {
    case .none: body = ResponseBody()
    case .json(let text): body = whole(text, "application/json", &headers)
    case .problem(let text): body = whole(text, Problem.mediaType, &headers)
    case .text(let text): body = whole(text, "text/plain; version=0.0.4; charset=utf-8", &headers)
    case .stream(let type, let stream):
      headers[.contentType] = type
      // Releasing the closure releases the stream and its snapshot: at the end, or when a write fails because the
      // client has gone.
      body = isHead ? ResponseBody { try await $0.finish(nil) } : streamed(stream, client)
    case .events(let stream):
      headers[.contentType] = "text/event-stream"
      body = self.body(stream, client)
    }
    let response = Response(status: .init(code: answer.status), headers: headers, body: body)
    if isHead, case .stream = answer.body { return response }
    return isHead ? response.createHeadResponse() : response
  }
}

/// The bodies of answers, which are sent as fast as the client receives them.
extension StoreResponder {
  /// Answers up to this size are sent at once, and do not count in the budget.
  private static let smallSize = 64 << 10

  func whole(_ text: String, _ type: String, _ headers: inout HTTPFields) -> ResponseBody {
    headers[.contentType] = type
    let buffer = ByteBuffer(string: text)
    let size = buffer.readableBytes
    guard size > Self.smallSize else { return ResponseBody(byteBuffer: buffer) }
    let share = BudgetShare(budget, size)
    return ResponseBody(contentLength: size) { writer in
      try await writer.write(buffer)
      // It suspends until the client has received most of the answer.
      try await writer.finish(nil)
      share.end()
    }
  }

  func streamed(_ stream: any AnswerStream, _ client: Client) -> ResponseBody {
    ResponseBody { [self] writer in
      do {
        var last: BudgetShare?
        defer { last?.end() }
        while let chunk = try await next(of: stream, client) {
          let share = BudgetShare(budget, chunk.count)
          // It suspends until the client has received most of the last chunk.
          try await writer.write(ByteBuffer(bytes: chunk))
          last?.end()
          last = share
        }
      } catch let error as PersistenceError {
        report(error)
        throw error
      }
      try await writer.finish(nil)
    }
  }

  /// Reports the error of a streamed answer.
  ///
  /// The head has been sent, so only a broken connection can show that the answer is incomplete.
  func report(_ error: PersistenceError) {
    guard error.code != .cancelled else { return }
    metrics.add(error.code)
    logger.error("a streamed answer failed", metadata: ["error": "\(error)"])
  }

  private func next(of stream: any AnswerStream, _ client: Client) async throws -> [UInt8]? {
    try await readWithinBudget(for: client) { try stream.next() }
  }
}
