#if HTTP
  import Hummingbird
  import NIOCore

  /// The context of a request: its connection.
  struct ServerRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
      coreContext = CoreRequestContextStorage(source: source)
      channel = source.channel
    }
  }
#endif
