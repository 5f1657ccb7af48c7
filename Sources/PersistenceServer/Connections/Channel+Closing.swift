#if HTTP
  import NIOCore
  import NIOSSL

  extension Channel {
    /// Closes a connection without a farewell, and without the rest of its answers.
    ///
    /// TLS would wait for the client's farewell, so clients that send none could keep more connections than the limit.
    /// ``ConnectionDeadlines`` would wait until the client has read its answers.
    func closeAtOnce() {
      eventLoop.execute { [self] in
        // A handler's context passes an event to those before it.
        let pipeline = pipeline.syncOperations
        if let tls = try? pipeline.context(handlerType: NIOSSLServerHandler.self) {
          tls.close(promise: nil)
        } else if let deadlines = try? pipeline.context(handlerType: ConnectionDeadlines.self) {
          deadlines.close(promise: nil)
        } else {
          close(promise: nil)
        }
      }
    }
  }
#endif
