#if HTTP
  import PersistenceDriver
  import PersistenceDriverSupport
  import Synchronization

  /// The tokens of a server, which can change while it runs.
  final class CurrentTokens: Sendable {
    /// Each request passes this lock.
    private let tokens: Lock<AccessTokens>
    /// Called after a replacement; one that returns false is removed.
    private let handlers = Mutex<[@Sendable () -> Bool]>([])

    init(_ tokens: AccessTokens) { self.tokens = Lock(tokens) }

    func grant(authorization: String?) -> AccessTokens.Grant {
      tokens.withLock { $0 }.grant(authorization: authorization)
    }

    func replace(with new: AccessTokens) throws {
      try tokens.withLock { tokens in
        guard !tokens.isOpen, !new.isOpen else {
          throw PersistenceError.invalidRequest(
            "a server without tokens cannot get tokens, or lose them; start another")
        }
        tokens = new
      }
      let called = handlers.withLock { handlers in
        defer { handlers = [] }
        return handlers
      }
      let kept = called.filter { $0() }
      handlers.withLock { $0 += kept }
    }

    /// Calls a closure after each replacement, until it returns false.
    func whenReplaced(_ handler: @escaping @Sendable () -> Bool) { handlers.withLock { $0.append(handler) } }
  }
#endif
