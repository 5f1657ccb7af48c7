/// What a server lets its clients ask, so that none of them can harm the others.
public struct ServerLimits: Sendable, Hashable {
  /// The longest body, in bytes.
  public var bodySize: Int
  /// The longest path with its parameters, in bytes.
  public var pathSize: Int
  /// The longest answer that is not streamed, in bytes: a page that would be longer ends earlier, with a token.
  public var pageBytes: Int
  /// The most records of a page; streamed answers have no limit.
  public var pageSize: Int
  /// The records of a page where the request does not say.
  public var defaultPageSize: Int
  /// How deep a condition may be nested.
  public var queryDepth: Int
  /// How many tests and values a condition may have.
  public var querySize: Int
  /// How long the work of a request, or of one part of a streamed answer, may take.
  public var requestTime: Duration
  /// How long a client may take to send the head of a request, from the opening of the connection or the end of the
  /// answer before.
  public var headTime: Duration
  /// How long a client may take to send the body of a request.
  public var bodyTime: Duration
  /// How long a client may leave what was sent to it unread.
  public var writeTime: Duration
  /// How many connections are served at once; others wait to be accepted.
  public var connections: Int
  /// How many requests may wait for a thread; others are answered that the server is busy.
  public var waitingRequests: Int
  /// How many requests read at once.
  public var readingThreads: Int
  /// How long requests under way may take after the server was told to stop.
  public var shutdownTime: Duration

  /// States limits.
  public init(
    bodySize: Int = 8 << 20, pathSize: Int = 16 << 10, pageBytes: Int = 16 << 20, pageSize: Int = 1000,
    defaultPageSize: Int = 100, queryDepth: Int = 32, querySize: Int = 2000,
    requestTime: Duration = .seconds(30),
    headTime: Duration = .seconds(30), bodyTime: Duration = .seconds(60), writeTime: Duration = .seconds(60),
    connections: Int = 1024, waitingRequests: Int = 1024, readingThreads: Int = 16,
    shutdownTime: Duration = .seconds(30)
  ) {
    self.bodySize = bodySize
    self.pathSize = pathSize
    self.pageBytes = pageBytes
    self.pageSize = max(1, pageSize)
    self.defaultPageSize = max(1, min(defaultPageSize, pageSize))
    self.queryDepth = queryDepth
    self.querySize = querySize
    self.requestTime = requestTime
    self.headTime = headTime
    self.bodyTime = bodyTime
    self.writeTime = writeTime
    self.connections = max(1, connections)
    self.waitingRequests = max(1, waitingRequests)
    self.readingThreads = max(1, readingThreads)
    self.shutdownTime = shutdownTime
  }
}
