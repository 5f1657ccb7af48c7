import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP

/// Connects the HTTP framework to the service, which runs on threads that may block.
struct StoreResponder: HTTPResponder {
  typealias Context = BasicRequestContext

  let service: StoreService
  let tokens: AccessTokens
  let reading: BlockingThreads
  let writing: BlockingThreads
  let logger: Logger

  func respond(to request: Request, context: Context) async throws -> Response {
    let answer: Answer
    do {
      answer = try await self.answer(request)
    } catch let problem as Problem {
      answer = .problem(problem)
    } catch let error as PersistenceError {
      let problem = Problem(error)
      if problem.status >= 500 { logger.error("a request failed", metadata: ["error": "\(error)"]) }
      answer = .problem(problem)
    } catch let error as CancellationError {
      throw error
    } catch {
      // The connection failed or the request is malformed, so no answer is possible.
      logger.debug("cannot read a request", metadata: ["error": "\(error)"])
      throw error
    }
    return response(answer, isHead: request.method == .head)
  }

  private func answer(_ request: Request) async throws -> Answer {
    let target = request.head.path ?? ""
    guard target.utf8.count <= service.limits.pathSize else {
      throw Problem(status: 414, .invalidRequest, "the path is longer than \(service.limits.pathSize) bytes")
    }
    let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
    let path = WirePath(String(target[..<(mark ?? target.endIndex)]))
    // Without a token, a client learns only that a server exists, and not which paths it has.
    let access = tokens.access(authorization: request.headers[.authorization])
    guard path == .health || access > .none else {
      throw Problem(status: 401, .unauthorized, "send a token: Authorization: Bearer …")
    }
    guard let path else { throw Problem(status: 404, .notFound, "the server has no such path") }
    let methods = ServiceRequest.methods(of: path)
    guard let method = ServiceRequest.Method(rawValue: request.method.rawValue), methods.contains(method)
    else {
      let allowed = methods.map(\.rawValue).joined(separator: ", ")
      var answer = Answer.problem(Problem(status: 405, .unsupported, "this path supports \(allowed)"))
      answer.headers.append(("Allow", allowed))
      return answer
    }
    var served = ServiceRequest(method: method, path: path)
    guard !served.isWriting || access == .write else {
      throw Problem(status: 403, .unauthorized, "the token permits only reading")
    }
    if let mark { served.parameters = String(target[target.utf8.index(after: mark)...]) }
    if let name = HTTPField.Name("Idempotency-Key") { served.idempotencyKey = request.headers[name] }
    served.ifMatch = request.headers[.ifMatch]
    served.ifNoneMatch = request.headers[.ifNoneMatch]
    served.wantsLines = request.headers[.accept]?.lowercased().contains("application/x-ndjson") ?? false
    if served.hasBody { served.body = try await body(of: request) }
    let ready = served
    guard ready.needsStore else { return try service.answer(ready) }
    return try await (served.isWriting ? writing : reading).run(within: service.limits.requestTime) {
      try service.answer(ready)
    }
  }

  private func body(of request: Request) async throws -> [UInt8] {
    let type = request.headers[.contentType]?.prefix { $0 != ";" }.lowercased() ?? ""
    guard type.split(separator: " ").first == "application/json" else {
      throw Problem(status: 415, .invalidRequest, "the Content-Type of the body must be application/json")
    }
    let limit = service.limits.bodySize
    func tooLong() -> Problem {
      Problem(status: 413, .invalidRequest, "the body is longer than \(limit) bytes")
    }
    if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLong() }
    var bytes: [UInt8] = []
    for try await part in request.body {
      guard bytes.count + part.readableBytes <= limit else { throw tooLong() }
      bytes.append(contentsOf: part.readableBytesView)
    }
    return bytes
  }

  private func response(_ answer: Answer, isHead: Bool) -> Response {
    var headers = HTTPFields()
    for (name, value) in answer.headers {
      if let name = HTTPField.Name(name) { headers[name] = value }
    }
    headers[.cacheControl] = "no-store"
    if let name = HTTPField.Name("X-Content-Type-Options") { headers[name] = "nosniff" }
    let body: ResponseBody
    switch answer.body {
    case .none: body = ResponseBody()
    case .json(let text):
      headers[.contentType] = "application/json"
      body = ResponseBody(byteBuffer: ByteBuffer(string: text))
    case .problem(let text):
      headers[.contentType] = Problem.mediaType
      body = ResponseBody(byteBuffer: ByteBuffer(string: text))
    case .lines(let lines):
      headers[.contentType] = "application/x-ndjson"
      // Releasing the closure releases the lines and their snapshot: at the end, or when a write fails because
      // the client has gone.
      body =
        isHead
        ? ResponseBody()
        : ResponseBody { [reading, logger, time = service.limits.requestTime] writer in
          do {
            while let chunk = try await reading.run(within: time, { try lines.next() }) {
              try await writer.write(ByteBuffer(bytes: chunk))
            }
          } catch let error as PersistenceError {
            // The head has been sent, so only a broken connection can show that the answer is incomplete.
            logger.error("a streamed answer failed", metadata: ["error": "\(error)"])
            throw error
          }
          try await writer.finish(nil)
        }
    }
    let response = Response(status: .init(code: answer.status), headers: headers, body: body)
    return isHead ? response.createHeadResponse() : response
  }
}
