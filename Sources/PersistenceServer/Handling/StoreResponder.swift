#if HTTP
  import HTTPTypes
  import Hummingbird
  import Logging
  import NIOCore
  import NIOHTTPCompression
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceHTTP

  /// Connects the HTTP framework to the service, which runs on threads that may block.
  struct StoreResponder: HTTPResponder {
    typealias Context = ServerRequestContext

    /// The service, which the closure of a request refers to: a copy of it would count a dozen references.
    final class SharedService: Sendable {
      let service: StoreService

      init(_ service: StoreService) { self.service = service }
    }

    let shared: SharedService
    let tokens: CurrentTokens
    let origins: AllowedOrigins
    let connections: ConnectionTable
    let reading: BlockingThreads
    let writing: BlockingThreads
    let admission: ReadAdmission
    let immediate: ImmediateReads
    let budget: AnswerBudget
    let metrics: ServerMetrics
    let logger: Logger

    init(
      service: StoreService, tokens: CurrentTokens, origins: AllowedOrigins, connections: ConnectionTable,
      reading: BlockingThreads, writing: BlockingThreads, metrics: ServerMetrics, logger: Logger
    ) {
      shared = SharedService(service)
      (self.tokens, self.origins, self.connections) = (tokens, origins, connections)
      (self.reading, self.writing, self.metrics, self.logger) = (reading, writing, metrics, logger)
      let limits = service.limits
      tokens.whenReplaced { [weak feeds = service.feeds] in
        feeds?.wakeAll()
        return feeds != nil
      }
      // One client never has all threads.
      let readsPerClient = max(1, min(limits.readsPerClient, limits.readingThreads - 1))
      admission = ReadAdmission(
        limit: readsPerClient, waitingLimit: limits.waitingRequests, gauge: metrics.waitingReads)
      immediate = ImmediateReads(of: service.context)
      budget = AnswerBudget(limits.answerBytes, gauge: metrics.answerBytes)
    }

    var service: StoreService { shared.service }

    func respond(to request: Request, context: Context) async throws -> Response {
      guard let connection = connections.connection(of: context.channel) else {
        throw ChannelError.ioOnClosedChannel
      }
      return try await respond(to: request, of: connection)
    }
  }

  extension StoreResponder {
    func respond(to request: Request, of connection: Connection) async throws -> Response {
      let start = ContinuousClock.now
      let client = Client(connection)
      var answer: Answer
      do {
        answer = try await self.answer(request, client)
      } catch let problem as Problem {
        answer = .problem(problem)
      } catch let error as PersistenceError where error.code == .cancelled {
        // The client has gone, or the server was stopped: nobody waits for an answer.
        metrics.add(request.method, status: Self.goneStatus, error: nil, time: ContinuousClock.now - start)
        throw CancellationError()
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
      answer.headers += origins.headers(for: request.head)
      let time = ContinuousClock.now - start
      metrics.add(request.method, status: answer.status, error: answer.error, time: time)
      logger.info("request", metadata: Self.record(request, answer.status, time, connection.channel))
      return response(answer, to: request, of: client)
    }

    /// The status of requests whose clients went before their answers, in metrics only.
    private static let goneStatus = 499

    /// The line of the access log: without parameters, which contain data, and without the token.
    private static func record(_ request: Request, _ status: Int, _ time: Duration, _ channel: (any Channel)?)
      -> Logger.Metadata
    {
      [
        "method": "\(request.method.rawValue)",
        "path": "\((request.head.path ?? "").prefix { $0 != "?" }.prefix(200))",
        "status": "\(status)", "milliseconds": "\(Int(time / .milliseconds(1)))",
        "peer": "\(channel?.remoteAddress?.ipAddress ?? "local")",
      ]
    }
  }

  extension StoreResponder {
    /// The answer to a request: checks it, reads its body, and asks the service.
    func answer(_ request: Request, _ client: Client) async throws -> Answer {
      if let refusal = Self.refusal(of: request) { throw refusal }
      let target = request.head.path ?? ""
      guard target.utf8.count <= service.limits.pathSize else {
        throw Problem(
          status: 414, .invalidRequest, "the path is longer than \(service.limits.pathSize) bytes")
      }
      if let answer = origins.preflight(request.head) { return answer }
      let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
      let path = WirePath(String(target[..<(mark ?? target.endIndex)]))
      guard !client.connection.isSurplus || path == .health else { throw Self.tooManyConnections }
      // Without a token, a client learns only that a server exists, and not which paths it has.
      let authorization = request.headers[.authorization]
      let grant = tokens.grant(authorization: authorization)
      guard path?.isOpen == true || grant.access > .none else {
        throw Problem(status: 401, .unauthorized, "send a token: Authorization: Bearer …")
      }
      client.set(grant.token)
      guard let path else { throw Self.noPath(target[..<(mark ?? target.endIndex)]) }
      let methods = ServiceRequest.methods(of: path)
      guard let method = ServiceRequest.Method(rawValue: request.method.rawValue), methods.contains(method)
      else {
        let allowed = methods.map(\.rawValue).joined(separator: ", ")
        var answer = Answer.problem(Problem(status: 405, .unsupported, "this path supports \(allowed)"))
        answer.headers.append(("Allow", allowed))
        return answer
      }
      var served = ServiceRequest(method: method, path: path)
      guard !served.isWriting || grant.access == .write else {
        throw Problem(status: 403, .unauthorized, "the token permits only reading")
      }
      if let mark { served.parameters = String(target[target.utf8.index(after: mark)...]) }
      served.read(request.headers)
      served.authorization = authorization
      if served.hasBody { served.body = try await body(of: request) }
      return try await answer(served, client)
    }

    private func answer(_ request: ServiceRequest, _ client: Client) async throws -> Answer {
      if request.path == .metrics { return Answer(status: 200, body: .text(metrics.text)) }
      guard request.needsStore else { return try service.answer(request) }
      if case .events(let model) = request.path, request.method == .get {
        return try await events(of: model, request, client)
      }
      let shared = shared
      if request.isWriting {
        return try await writing.run(within: service.limits.requestTime) {
          try shared.service.answer(request)
        }
      }
      if let answer = try await answerAtOnce(request, client) { return answer }
      return try await read(for: client) { try shared.service.answer(request) }
    }

    private func body(of request: Request) async throws -> [UInt8] {
      let type = request.headers[.contentType]?.prefix { $0 != ";" }.lowercased() ?? ""
      let isPatch = request.method == .patch && type == "application/merge-patch+json"
      guard isPatch || type.split(separator: " ").first == "application/json" else {
        throw Problem(status: 415, .invalidRequest, "the Content-Type of the body must be application/json")
      }
      // A handler of the connection unpacks the body.
      let coding = request.headers[.contentEncoding]?.lowercased() ?? "identity"
      guard ["identity", "gzip", "deflate"].contains(coding) else {
        throw Problem(
          status: 415, .invalidRequest, "the Content-Encoding of the body must be gzip, deflate or identity")
      }
      let limit = service.limits.bodySize
      func tooLong() -> Problem {
        Problem(status: 413, .invalidRequest, "the body is longer than \(limit) bytes")
      }
      if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLong() }
      var bytes: [UInt8] = []
      do {
        for try await part in request.body {
          guard bytes.count + part.readableBytes <= limit else { throw tooLong() }
          bytes.append(contentsOf: part.readableBytesView)
        }
      } catch is NIOHTTPDecompression.DecompressionError {
        throw Problem(
          status: 413, .invalidRequest, "the body is longer than \(limit) bytes, or not valid \(coding)")
      } catch is NIOHTTPDecompression.ExtraDecompressionError {
        throw Problem(status: 400, .invalidRequest, "the body is not valid \(coding)")
      }
      return bytes
    }
  }

  extension StoreResponder {
    func response(_ answer: Answer, to request: Request, of client: Client) -> Response {
      let isHead = request.method == .head
      let isRead = isHead || request.method == .get
      var headers = AnswerHeaders.fields(
        isRead: isRead, isKept: isRead && answer.status < 400 && answer.tag != nil,
        isCompressible: answer.isCompressible, isMarked: answer.isCompressible && !isHead)
      // None of them has this name yet, so it needs no search.
      if let tag = answer.tag { headers.append(HTTPField(name: .eTag, value: tag)) }
      for (name, value) in answer.headers {
        if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
      }
      let body: ResponseBody
      switch answer.body {
      case .none: body = ResponseBody()
      case .json(let bytes): body = whole(ByteBuffer(bytes: bytes), "application/json", &headers)
      case .problem(let text): body = whole(ByteBuffer(string: text), Problem.mediaType, &headers)
      case .text(let text):
        body = whole(ByteBuffer(string: text), "text/plain; version=0.0.4; charset=utf-8", &headers)
      case .stream(let type, let stream):
        headers.append(HTTPField(name: .contentType, value: type))
        // Releasing the closure releases the stream and its snapshot: at the end, or when a write fails because the
        // client has gone.
        let released = ReleasedOnThread(stream, reading)
        body = isHead ? self.body(without: released) : streamed(released, client)
      case .events(let stream):
        headers.append(HTTPField(name: .contentType, value: "text/event-stream"))
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

    func whole(_ buffer: ByteBuffer, _ type: String, _ headers: inout HTTPFields) -> ResponseBody {
      headers.append(HTTPField(name: .contentType, value: type))
      let size = buffer.readableBytes
      guard size > Self.smallSize else { return ResponseBody(byteBuffer: buffer) }
      let share = BudgetShare(budget, size)
      return ResponseBody(contentLength: size) { writer in
        try await writer.write(buffer)
        // It suspends while much of the answer is unsent.
        try await writer.finish(nil)
        share.end()
      }
    }

    /// The body of the answer to HEAD, which only holds the stream.
    func body(without stream: ReleasedOnThread<any AnswerStream>) -> ResponseBody {
      ResponseBody { writer in
        try await writer.finish(nil)
        withExtendedLifetime(stream) {}
      }
    }

    func streamed(_ stream: ReleasedOnThread<any AnswerStream>, _ client: Client) -> ResponseBody {
      ResponseBody { [self] writer in
        do {
          var last: BudgetShare?
          defer { last?.end() }
          while let chunk = try await next(of: stream, client) {
            let share = BudgetShare(budget, chunk.count)
            // It suspends while much of the last chunk is unsent.
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

    private func next(
      of stream: ReleasedOnThread<any AnswerStream>, _ client: Client
    ) async throws -> [UInt8]? {
      try await readWithinBudget(for: client) { try stream.value?.next() }
    }
  }
#endif
