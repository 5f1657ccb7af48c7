#if HTTP
  import Foundation
  import NIOCore
  import NIOHTTP1

  /// Checks what HTTP/1 says of a request and the HTTP framework drops: its version, its Host headers, its transfer
  /// coding and its expectation.
  ///
  /// A refused request goes on with a mark, so that its answer is in the order of the requests.
  final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The header that marks a refused request; its value is a ``Refusal``.
    static let mark = "Persistence-Refusal"
    /// The header that marks an answer that may be sent compressed, if it is long.
    static let compressionMark = "Persistence-Compress"

    /// Why a request is refused.
    enum Refusal: String {
      case version
      case host
      case otherHost
      case coding
      case expectation
    }

    /// What the answer to a request depends on.
    private struct Pending {
      var isOld: Bool
      var isLast: Bool
      var isHead: Bool
    }

    private let hosts: HostNames
    private let bodySize: Int
    private var pending = CircularBuffer<Pending>()

    init(_ hosts: HostNames, bodySize: Int) { (self.hosts, self.bodySize) = (hosts, bodySize) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard case .head(let head) = unwrapInboundIn(data) else {
        context.fireChannelRead(data)
        return
      }
      let refusal = refusal(of: head)
      let isOld = head.version == .http1_0
      pending.append(
        Pending(
          isOld: isOld, isLast: isOld || refusal != nil || !head.isKeepAlive, isHead: head.method == .HEAD))
      if refusal == nil, !head.headers.contains(name: Self.mark) {
        // Most heads go on as they are: a change would copy all headers.
        context.fireChannelRead(data)
      } else {
        context.fireChannelRead(wrapInboundOut(.head(marked(head, refusal))))
      }
      // Only the first request of several in flight can wait for permission: others were sent without.
      guard refusal == nil, !isOld, pending.count == 1, expectsPermission(head), mayContinue(head) else {
        return
      }
      context.writeAndFlush(
        wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      guard let current = pending.first else {
        context.write(data, promise: promise)
        return
      }
      switch unwrapOutboundIn(data) {
      case .head(var head) where current.isOld || current.isLast:
        if current.isOld { head.version = .http1_0 }
        if current.isLast { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
      case .head, .body: context.write(data, promise: promise)
      case .end:
        pending.removeFirst()
        guard current.isOld else {
          // An answer to HEAD has no body, and so not even the end of a chunked one.
          if current.isHead { promise?.succeed() } else { context.write(data, promise: promise) }
          return
        }
        // The end of the connection is the end of an answer without a length.
        let channel = context.channel
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.whenComplete { _ in channel.close(mode: .output, promise: nil) }
        context.writeAndFlush(data, promise: written)
      }
    }

    private func refusal(of head: HTTPRequestHead) -> Refusal? {
      guard head.version == .http1_1 || head.version == .http1_0 else { return .version }
      let names = head.headers["Host"]
      // An old client may send no name; a browser always sends one.
      guard names.count <= 1, !names.isEmpty || head.version == .http1_0 else { return .host }
      if let refusal = refusal(ofHost: names.first) ?? refusal(ofHost: authority(in: head.uri)) {
        return refusal
      }
      let codings = head.headers[canonicalForm: "Transfer-Encoding"]
      guard codings.isEmpty || codings.count == 1 && codings[0].lowercased() == "chunked" else {
        return .coding
      }
      let expected = head.headers[canonicalForm: "Expect"]
      return expected.allSatisfy { $0.lowercased() == "100-continue" } ? nil : .expectation
    }

    private func refusal(ofHost host: String?) -> Refusal? {
      guard let host else { return nil }
      guard HostNames.name(in: host) != nil else { return .host }
      return hosts.contains(host) ? nil : .otherHost
    }

    /// The head without a mark that the client sent, and with that of a refusal.
    private func marked(_ head: HTTPRequestHead, _ refusal: Refusal?) -> HTTPRequestHead {
      var head = head
      head.headers.remove(name: Self.mark)
      if let refusal { head.headers.add(name: Self.mark, value: refusal.rawValue) }
      return head
    }

    /// The authority of a target in absolute form, which a request to a proxy has; nil for a path.
    private func authority(in target: String) -> String? {
      guard !target.hasPrefix("/"), let start = target.range(of: "://")?.upperBound else { return nil }
      return String(target[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" })
    }

    private func expectsPermission(_ head: HTTPRequestHead) -> Bool { head.headers.contains(name: "Expect") }

    /// Whether the server would read the body: a client that announces a longer one learns so before it sends it.
    private func mayContinue(_ head: HTTPRequestHead) -> Bool {
      head.headers.first(name: "Content-Length").map { Int($0).map { $0 <= bodySize } ?? false } ?? true
    }
  }
#endif
