import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PersistenceDriver
import PersistenceHTTP
import Synchronization

extension StoreResponder {
  /// Answers up to this size are sent at once, and do not count in the budget.
  private static let smallSize = 64 << 10

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

  private func whole(_ text: String, _ type: String, _ headers: inout HTTPFields) -> ResponseBody {
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

  private func streamed(_ stream: any AnswerStream, _ client: Client) -> ResponseBody {
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
    if budget.isFull { try await limited(client) { try await budget.wait($0) } }
    return try await read(for: client) { try stream.next() }
  }
}

/// The bytes of one answer in the budget, until they are sent or discarded.
final class BudgetShare: Sendable {
  private let budget: AnswerBudget
  private let size: Int
  private let hasEnded = Atomic(false)

  init(_ budget: AnswerBudget, _ size: Int) {
    (self.budget, self.size) = (budget, size)
    budget.add(size)
  }

  deinit { end() }

  func end() {
    if !hasEnded.exchange(true, ordering: .relaxed) { budget.remove(size) }
  }
}
