#if HTTP
  import NIOCore
  import NIOHTTPTypes
  import NIOHTTPTypesHTTP1
  import NIOSSL

  /// Closes connections of slow clients: those slow to send a first byte, a head or a body, or to read an answer.
  ///
  /// A deadline counts from the start of its phase, so a client cannot extend it by sending single bytes. The handler
  /// also tells the server's ``ConnectionTable`` what the connection does.
  final class ConnectionDeadlines: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: ServerLimits
    private let table: ConnectionTable
    private let hosts: HostNames
    private let tls: CurrentTLS?
    private let compressor = Compression.answers
    private var isCompressing = true
    private var connection: Connection?
    /// The deadlines of a first byte or a head, of a body, and of a client that does not receive an answer.
    private var head: MovableDeadline?
    private var body: MovableDeadline?
    private var writing: MovableDeadline?
    /// The number of requests without a complete answer.
    private var unanswered = 0
    private var isReadingBody = false
    /// Whether the connection ends as soon as the answers are sent.
    private var isClosing = false

    init(_ limits: ServerLimits, _ table: ConnectionTable, _ hosts: HostNames, _ tls: CurrentTLS?) {
      (self.limits, self.table, self.hosts, self.tls) = (limits, table, hosts, tls)
    }

    func handlerAdded(context: ChannelHandlerContext) {
      do {
        let pipeline = context.pipeline.syncOperations
        let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
        try pipeline.addHandler(RequestGuard(hosts, bodySize: limits.bodySize), position: .before(codec))
        try pipeline.addHandler(compressor, position: .before(codec))
        try pipeline.addHandler(Compression.bodies(limits.bodySize), position: .before(codec))
        if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls.context), position: .first) }
        // Before TLS, whose first byte counts; the handshake is part of the time for a head.
        let watch = FirstByteWatch { [self] in head?.set(in: limits.headTime) }
        try pipeline.addHandler(watch, position: .first)
      } catch {
        context.close(promise: nil)
        return
      }
      if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
      begin(context)
      context.fireChannelActive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { forget() }

    func channelInactive(context: ChannelHandlerContext) {
      forget()
      context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      // A client that closes its side while it waits has gone; no protocol on top of HTTP/1.1 does so.
      if let event = event as? ChannelEvent, event == .inputClosed { connection?.clientHasGone() }
      context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head:
        unanswered += 1
        isReadingBody = true
        if let connection { table.set(.busy, of: connection) }
        head?.remove()
        body?.set(in: limits.bodyTime)
      case .body: break
      case .end:
        isReadingBody = false
        body?.remove()
        expectNext()
      }
      context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      switch unwrapOutboundIn(data) {
      case .head where unanswered <= 0 && isCompressing:
        // The framework answers a malformed head, for which the compressor has no request.
        isCompressing = false
        context.pipeline.syncOperations.removeHandler(compressor, promise: nil)
      case .head, .body: break
      case .end:
        unanswered -= 1
        guard context.channel.isWritable else {
          let sent = promise ?? context.eventLoop.makePromise()
          sent.futureResult.assumeIsolated().whenComplete { [self] _ in expectNext() }
          context.write(data, promise: sent)
          return
        }
        expectNext()
      }
      context.write(data, promise: promise)
    }

    /// Closes the connection after the answers are sent: the framework closes it at once when the server stops, and the
    /// channel would discard what the client has not yet read.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
      // The time for stopping is over.
      if isClosing, mode == .input { return context.close(promise: promise) }
      // Only a broken connection shows that an answer is incomplete.
      guard mode == .all, unanswered <= 0, !isClosing else {
        return context.close(mode: mode, promise: promise)
      }
      isClosing = true
      let sent = context.eventLoop.makePromise(of: Void.self)
      sent.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: promise) }
      context.close(mode: .output, promise: sent)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
      if context.channel.isWritable { writing?.remove() } else { writing?.set(in: limits.writeTime) }
      context.fireChannelWritabilityChanged()
    }

    private func begin(_ context: ChannelHandlerContext) {
      guard connection == nil else { return }
      guard let added = table.add(context.channel) else {
        context.close(promise: nil)
        return
      }
      connection = added
      let channel = context.channel
      (head, body, writing) = (MovableDeadline(channel), MovableDeadline(channel), MovableDeadline(channel))
      head?.set(in: limits.firstByteTime)
    }

    /// Begins the time for the next head, if everything is answered.
    private func expectNext() {
      guard unanswered <= 0, !isReadingBody else { return }
      if let connection { table.set(.idle, of: connection) }
      head?.set(in: limits.headTime)
    }

    private func forget() {
      for deadline in [head, body, writing] { deadline?.end() }
      (head, body, writing) = (nil, nil, nil)
      connection?.clientHasGone()
      if let connection { table.remove(connection) }
      connection = nil
    }
  }

  /// Calls a closure at the first byte of a connection.
  final class FirstByteWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let whenReceived: () -> Void

    init(whenReceived: @escaping () -> Void) { self.whenReceived = whenReceived }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      whenReceived()
      context.fireChannelRead(data)
      context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
  }
#endif
