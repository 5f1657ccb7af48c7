import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import Synchronization

/// The context of a request: its connection.
struct ServerRequestContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel

  init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
  }
}

/// Connects the HTTP framework to the service, which runs on threads that may block.
struct StoreResponder: HTTPResponder {
  typealias Context = ServerRequestContext

  let service: StoreService
  let tokens: CurrentTokens
  let origins: AllowedOrigins
  let connections: ConnectionTable
  let reading: BlockingThreads
  let writing: BlockingThreads
  let admission: ReadAdmission
  let budget: AnswerBudget
  let metrics: ServerMetrics
  let logger: Logger

  init(
    service: StoreService, tokens: CurrentTokens, origins: AllowedOrigins, connections: ConnectionTable,
    reading: BlockingThreads, writing: BlockingThreads, metrics: ServerMetrics, logger: Logger
  ) {
    (self.service, self.tokens, self.origins, self.connections) = (service, tokens, origins, connections)
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
    budget = AnswerBudget(limits.answerBytes, gauge: metrics.answerBytes)
  }

  func respond(to request: Request, context: Context) async throws -> Response {
    guard let connection = connections.connection(of: context.channel) else {
      throw ChannelError.ioOnClosedChannel
    }
    return try await respond(to: request, of: connection)
  }

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
