import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PersistenceDriver
import PersistenceHTTP

/// Puts requests of the framework to the service, on threads that may block, and its answers into the framework's words.
struct StoreResponder: HTTPResponder {
  typealias Context = BasicRequestContext

  let service: StoreService
  let tokens: AccessTokens
  let reading: WorkThreads
  let writing: WorkThreads
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
      // What the framework met on the connection: there is nobody to answer, or nobody who makes sense.
      logger.debug("a request could not be read", metadata: ["error": "\(error)"])
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
    // Whoever has no token learns nothing but that there is a server: not even which paths there are.
    let access = tokens.access(authorization: request.headers[.authorization])
    guard path == .health || access > .none else {
      throw Problem(status: 401, .unauthorized, "a token is needed: Authorization: Bearer …")
    }
    guard let path else { throw Problem(status: 404, .notFound, "nothing is served under this path") }
    let methods = ServedRequest.methods(of: path)
    guard let method = ServedRequest.Method(rawValue: request.method.rawValue), methods.contains(method)
    else {
      var answer = Answer.problem(
        Problem(status: 405, .unsupported, "this path has \(methods.map(\.rawValue).joined(separator: ", "))")
      )
      answer.headers.append(("Allow", methods.map(\.rawValue).joined(separator: ", ")))
      return answer
    }
    var served = ServedRequest(method: method, path: path)
    guard !served.isWriting || access == .write else {
      throw Problem(status: 403, .unauthorized, "the token may only read")
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
      throw Problem(status: 415, .invalidRequest, "the body's Content-Type is application/json")
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
    let status = HTTPResponse.Status(code: answer.status)
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
      // The lines, and with them the snapshot that they pin, are released when this closure is: at the end, or when
      // the client has gone and writing throws.
      body =
        isHead
        ? ResponseBody()
        : ResponseBody { [reading, logger, time = service.limits.requestTime] writer in
          do {
            while let chunk = try await reading.run(within: time, { try lines.next() }) {
              try await writer.write(ByteBuffer(bytes: chunk))
            }
          } catch let error as PersistenceError {
            // The head has been sent: breaking the connection off is the one way to say that this is not all.
            logger.error("a streamed answer was broken off", metadata: ["error": "\(error)"])
            throw error
          }
          try await writer.finish(nil)
        }
    }
    let response = Response(status: status, headers: headers, body: body)
    return isHead ? response.createHeadResponse() : response
  }
}
