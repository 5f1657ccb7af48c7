#if HTTP
  import NIOCore
  import NIOSSL

  extension Channel {
    /// Closes a connection without a farewell.
    ///
    /// TLS would wait for the client's, so clients that send none could keep more connections than the limit.
    func closeAtOnce() {
      eventLoop.execute { [self] in
        if let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
          tls.close(promise: nil)
        } else {
          close(promise: nil)
        }
      }
    }
  }
#endif
