/// How a client speaks with a server.
public struct RemoteOptions: Sendable, Hashable {
  /// How long it may take to be connected.
  public var connectTime: Duration
  /// How long a request may take with its whole answer, where the answer is not streamed.
  public var requestTime: Duration
  /// How long a streamed answer may stand still.
  public var readTime: Duration
  /// How many connections are kept at most.
  public var connections: Int
  /// The longest answer that is not streamed, and the longest line of one that is, in bytes.
  public var answerSize: Int

  /// Whether the token may go to another machine by `http:`, where everybody on the way can read it: only where what
  /// carries it is private, as a tunnel is.
  public var sendsTokenInPlainText: Bool

  /// States options.
  public init(
    connectTime: Duration = .seconds(10), requestTime: Duration = .seconds(30),
    readTime: Duration = .seconds(60),
    connections: Int = 8, answerSize: Int = 64 << 20,
    sendsTokenInPlainText: Bool = false
  ) {
    self.connectTime = connectTime
    self.requestTime = requestTime
    self.readTime = readTime
    self.connections = max(1, connections)
    self.answerSize = answerSize
    self.sendsTokenInPlainText = sendsTokenInPlainText
  }
}
