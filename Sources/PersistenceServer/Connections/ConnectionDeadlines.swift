import NIOCore
import NIOHTTPTypes

/// Closes connections of slow clients: those slow to send a head, to send a body, or to read an answer.
///
/// A deadline counts from the start of its phase, so a client cannot extend it by sending single bytes.
final class ConnectionDeadlines: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let headTime: TimeAmount
  private let bodyTime: TimeAmount
  private let writeTime: TimeAmount
  private var reading: Scheduled<Void>?
  private var writing: Scheduled<Void>?
  /// The number of requests without a complete answer.
  private var unanswered = 0
  private var isReadingBody = false

  init(_ limits: ServerLimits) {
    headTime = TimeAmount(limits.headTime)
    bodyTime = TimeAmount(limits.bodyTime)
    writeTime = TimeAmount(limits.writeTime)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { expectHead(context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    expectHead(context)
    context.fireChannelActive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { forget() }

  func channelInactive(context: ChannelHandlerContext) {
    forget()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head:
      unanswered += 1
      isReadingBody = true
      reading?.cancel()
      reading = close(context, in: bodyTime)
    case .body: break
    case .end:
      isReadingBody = false
      reading?.cancel()
      reading = nil
      if unanswered == 0 { expectHead(context) }
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .end = unwrapOutboundIn(data) {
      unanswered -= 1
      if unanswered <= 0, !isReadingBody { expectHead(context) }
    }
    context.write(data, promise: promise)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    writing?.cancel()
    writing = context.channel.isWritable ? nil : close(context, in: writeTime)
    context.fireChannelWritabilityChanged()
  }

  private func expectHead(_ context: ChannelHandlerContext) {
    reading?.cancel()
    reading = close(context, in: headTime)
  }

  private func close(_ context: ChannelHandlerContext, in time: TimeAmount) -> Scheduled<Void> {
    let channel = context.channel
    return context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
  }

  private func forget() {
    reading?.cancel()
    writing?.cancel()
    (reading, writing) = (nil, nil)
  }
}
