#if HTTP
  /// The limits of requests and connections, which protect clients from each other.
  public struct ServerLimits: Sendable, Hashable {
    /// The maximum size of a body, in bytes.
    public var bodySize: Int
    /// The maximum size of a path with its parameters, in bytes.
    public var pathSize: Int
    /// The maximum size of an answer that is not streamed, in bytes.
    ///
    /// A longer page ends early, with a token.
    public var pageBytes: Int
    /// The maximum number of records of a page.
    ///
    /// Streamed answers have no limit.
    public var pageSize: Int
    /// The number of records of a page if the request does not specify it.
    public var defaultPageSize: Int
    /// The maximum nesting of a predicate.
    public var queryDepth: Int
    /// The maximum number of comparisons and values of a predicate.
    public var querySize: Int
    /// The maximum number of records that one condition on related records may find.
    public var relatedKeys: Int
    /// The time limit for the work of a request, or of one part of a streamed answer.
    ///
    /// It ends a read. A write is not interrupted, because it may have been committed.
    public var requestTime: Duration
    /// The time limit for the first byte of a new connection.
    public var firstByteTime: Duration
    /// The time limit for the head of a request, from the start of the connection or the end of the previous
    /// answer.
    public var headTime: Duration
    /// The time limit for the body of a request.
    public var bodyTime: Duration
    /// The time limit for a client to read what the server has sent.
    public var writeTime: Duration
    /// The maximum number of connections.
    ///
    /// A further connection closes one that has no request in flight. If there is none, it only gets the health check.
    public var connections: Int
    /// The maximum number of connections from one address, or from the first half of an IPv6 address.
    public var connectionsPerPeer: Int
    /// The maximum number of requests that wait for a thread.
    ///
    /// The server rejects others as busy.
    public var waitingRequests: Int
    /// The maximum number of concurrent reads.
    public var readingThreads: Int
    /// The maximum number of concurrent reads of one client, which is a token at one address.
    ///
    /// Its other reads wait, so that one client cannot use all threads: at least one of several stays for others.
    public var readsPerClient: Int
    /// The memory for all answers that clients have not received yet, in bytes.
    ///
    /// Above it, the server reads no further records until clients have received some.
    public var answerBytes: Int
    /// The number of changed records of each model whose keys the server remembers for clients.
    ///
    /// A client that is further behind fetches all records again.
    public var rememberedChanges: Int
    /// The maximum number of concurrent event streams.
    public var eventStreams: Int
    /// The maximum number of concurrent event streams of one address, or of the first half of an IPv6 address.
    public var eventStreamsPerPeer: Int
    /// The time between two signs of life in an event stream without changes.
    public var heartbeatTime: Duration
    /// The time limit for requests in flight after a stop.
    public var shutdownTime: Duration

    /// Creates limits.
    public init(
      bodySize: Int = 8 << 20, pathSize: Int = 16 << 10, pageBytes: Int = 16 << 20, pageSize: Int = 1000,
      defaultPageSize: Int = 100, queryDepth: Int = 32, querySize: Int = 2000,
      relatedKeys: Int = 1_000_000,
      requestTime: Duration = .seconds(30), firstByteTime: Duration = .seconds(5),
      headTime: Duration = .seconds(30), bodyTime: Duration = .seconds(60),
      writeTime: Duration = .seconds(60),
      connections: Int = 1024, connectionsPerPeer: Int = 512, waitingRequests: Int = 1024,
      readingThreads: Int = 16, readsPerClient: Int = 12, answerBytes: Int = 256 << 20,
      rememberedChanges: Int = 10_000, eventStreams: Int = 256, eventStreamsPerPeer: Int = 64,
      heartbeatTime: Duration = .seconds(15), shutdownTime: Duration = .seconds(30)
    ) {
      self.bodySize = bodySize
      self.pathSize = pathSize
      self.pageBytes = pageBytes
      self.pageSize = max(1, pageSize)
      self.defaultPageSize = max(1, min(defaultPageSize, pageSize))
      self.queryDepth = queryDepth
      self.querySize = querySize
      self.relatedKeys = max(0, relatedKeys)
      self.requestTime = requestTime
      self.firstByteTime = firstByteTime
      self.headTime = headTime
      self.bodyTime = bodyTime
      self.writeTime = writeTime
      self.connections = max(1, connections)
      self.connectionsPerPeer = max(1, connectionsPerPeer)
      self.waitingRequests = max(1, waitingRequests)
      self.readingThreads = max(1, readingThreads)
      self.readsPerClient = max(1, readsPerClient)
      self.answerBytes = max(1, answerBytes)
      self.rememberedChanges = max(1, rememberedChanges)
      self.eventStreams = max(0, eventStreams)
      self.eventStreamsPerPeer = max(0, eventStreamsPerPeer)
      self.heartbeatTime = max(.milliseconds(1), heartbeatTime)
      self.shutdownTime = shutdownTime
    }
  }
#endif
