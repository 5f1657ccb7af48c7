import Hummingbird
import Logging
import NIOCore
import PersistenceDriverSupport

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
}
