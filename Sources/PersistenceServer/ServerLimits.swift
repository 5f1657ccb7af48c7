#if HTTP
  import PersistenceHTTP

  /// The limits of requests and connections, which protect clients from each other.
  ///
  /// Each limit has a range; a server uses the nearest value in it. A limit without a stated range is at least 0, and a
  /// time is at most 2^30 seconds.
  public struct ServerLimits: Sendable, Hashable {
    /// The maximum size of a body, in bytes.
    public var bodySize: Int
    /// The maximum size of a path with its parameters, in bytes: from 1 to 2^30.
    public var pathSize: Int
    /// The maximum size of an answer that is not streamed, in bytes: at least 1024.
    ///
    /// A longer page ends early, with a token.
    public var pageBytes: Int
    /// The maximum number of records of a page: from 1 to 2^30.
    ///
    /// Streamed answers have no limit.
    public var pageSize: Int
    /// The number of records of a page if the request does not specify it: from 1 to ``pageSize``.
    public var defaultPageSize: Int
    /// The maximum nesting of a predicate, and of included references: from 0 to 500.
    ///
    /// Each level uses the stack of a thread.
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
    /// The maximum number of connections: from 1 to 2^30.
    ///
    /// A further connection closes one that has no request in flight. If there is none, it only gets the health check.
    public var connections: Int
    /// The maximum number of connections from one address, or from the first half of an IPv6 address: at least 1.
    public var connectionsPerPeer: Int
    /// The maximum number of requests that wait for a thread: at least 1.
    ///
    /// The server rejects others as busy.
    public var waitingRequests: Int
    /// The maximum number of concurrent reads: at least 1.
    public var readingThreads: Int
    /// The maximum number of concurrent reads of one client, which is a token at one address: at least 1.
    ///
    /// Its other reads wait, so that one client cannot use all threads: at least one of several stays for others.
    public var readsPerClient: Int
    /// The memory for all answers that clients have not received yet, in bytes: at least 1.
    ///
    /// Above it, the server reads no further records until clients have received some.
    public var answerBytes: Int
    /// The number of changed records of each model whose keys the server remembers for clients: from 1 to 2^30.
    ///
    /// A client that is further behind fetches all records again.
    public var rememberedChanges: Int
    /// The maximum number of concurrent event streams.
    public var eventStreams: Int
    /// The maximum number of concurrent event streams of one address, or of the first half of an IPv6 address.
    public var eventStreamsPerPeer: Int
    /// The time between two signs of life in an event stream without changes: at least a millisecond.
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
      self.pageSize = pageSize
      self.defaultPageSize = defaultPageSize
      self.queryDepth = queryDepth
      self.querySize = querySize
      self.relatedKeys = relatedKeys
      self.requestTime = requestTime
      self.firstByteTime = firstByteTime
      self.headTime = headTime
      self.bodyTime = bodyTime
      self.writeTime = writeTime
      self.connections = connections
      self.connectionsPerPeer = connectionsPerPeer
      self.waitingRequests = waitingRequests
      self.readingThreads = readingThreads
      self.readsPerClient = readsPerClient
      self.answerBytes = answerBytes
      self.rememberedChanges = rememberedChanges
      self.eventStreams = eventStreams
      self.eventStreamsPerPeer = eventStreamsPerPeer
      self.heartbeatTime = heartbeatTime
      self.shutdownTime = shutdownTime
      self = clamped
    }

    /// The limits within their ranges.
    ///
    /// The members can have any values. A server calculates with these, so that no sum or product overflows, no range is
    /// empty, and each page has room for a record.
    var clamped: ServerLimits {
      var limits = self
      limits.bodySize = max(0, bodySize)
      limits.pathSize = Self.clamp(pathSize)
      limits.pageBytes = max(1 << 10, pageBytes)
      limits.pageSize = Self.clamp(pageSize)
      limits.defaultPageSize = max(1, min(defaultPageSize, limits.pageSize))
      // That of a client's own requests, which the stack of a thread has room for.
      limits.queryDepth = max(0, min(queryDepth, QueryLimits.none.depth))
      limits.querySize = max(0, querySize)
      limits.relatedKeys = max(0, relatedKeys)
      limits.requestTime = Self.clamp(requestTime)
      limits.firstByteTime = Self.clamp(firstByteTime)
      limits.headTime = Self.clamp(headTime)
      limits.bodyTime = Self.clamp(bodyTime)
      limits.writeTime = Self.clamp(writeTime)
      limits.connections = Self.clamp(connections)
      limits.connectionsPerPeer = max(1, connectionsPerPeer)
      limits.waitingRequests = max(1, waitingRequests)
      limits.readingThreads = max(1, readingThreads)
      limits.readsPerClient = max(1, readsPerClient)
      limits.answerBytes = max(1, answerBytes)
      limits.rememberedChanges = Self.clamp(rememberedChanges)
      limits.eventStreams = max(0, eventStreams)
      limits.eventStreamsPerPeer = max(0, eventStreamsPerPeer)
      limits.heartbeatTime = max(.milliseconds(1), Self.clamp(heartbeatTime))
      limits.shutdownTime = Self.clamp(shutdownTime)
      return limits
    }

    /// Far below the largest integer, because a server adds to these limits and multiplies them.
    private static func clamp(_ count: Int) -> Int { max(1, min(count, 1 << 30)) }

    /// Far below the longest duration, because a server adds these times to the present one.
    private static func clamp(_ time: Duration) -> Duration { max(.zero, min(time, .seconds(1 << 30))) }
  }
#endif
