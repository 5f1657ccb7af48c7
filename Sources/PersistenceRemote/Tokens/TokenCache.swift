#if HTTP
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import Synchronization

  /// The current token of a provider.
  ///
  /// Requests that need a new token at the same time share one call of the provider. The call is cancelled when the last
  /// of them stops waiting.
  final class TokenCache: Sendable {
    typealias Provider = @Sendable (_ rejected: RemoteToken?) async throws -> RemoteToken
    private typealias Waiter = CheckedContinuation<RemoteToken, any Error>

    private struct Refresh {
      let number: Int
      let task: Task<Void, Never>
      var waiters: [Int: Waiter] = [:]
    }

    private struct State {
      var token: RemoteToken?
      /// When to replace the token; nil if the server will reject it.
      var end: ContinuousClock.Instant?
      var refresh: Refresh?
      /// The number of the last call of the provider or of the last waiter.
      var lastNumber = 0
      var lastRefresh = 0
    }

    /// The time before its expiration in which a token is no longer sent, since it could expire on its way.
    private static let margin = Duration.seconds(10)

    private let provider: Provider
    private let state = Mutex(State())

    init(_ provider: @escaping Provider) { self.provider = provider }

    /// A token that has not expired.
    ///
    /// - Parameters:
    ///   - rejected: The token that the server has rejected. Another one that arrived meanwhile is returned at once.
    ///   - time: The time limit for the provider.
    /// - Returns: The token.
    /// - Throws: ``PersistenceError/Code/unauthorized`` if the provider fails, its own error if that is retryable,
    ///   ``PersistenceError/Code/timedOut``, and `CancellationError`.
    func token(rejecting rejected: RemoteToken? = nil, within time: Duration) async throws -> RemoteToken {
      if let known = state.withLock({ Self.usable($0, rejected) }) { return known }
      let number = state.withLock { state in
        state.lastNumber += 1
        return state.lastNumber
      }
      let timer = DeadlineTimer(after: time) { [self] in leave(number, Self.late(time)) }
      defer { timer.cancel() }
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { waiter in
          if let known = join(number, waiter, rejected) {
            waiter.resume(returning: known)
          } else if Task.isCancelled {
            // The handler may have run before the waiter was added.
            leave(number, CancellationError())
          }
        }
      } onCancel: {
        leave(number, CancellationError())
      }
    }

    private static func usable(_ state: State, _ rejected: RemoteToken?) -> RemoteToken? {
      guard let token = state.token, token.text != rejected?.text else { return nil }
      return state.end.map { ContinuousClock.now < $0 } ?? true ? token : nil
    }

    /// Adds a waiter to the call of the provider, which it starts if there is none; returns a token that has arrived.
    private func join(_ number: Int, _ waiter: Waiter, _ rejected: RemoteToken?) -> RemoteToken? {
      state.withLock { state in
        if let known = Self.usable(state, rejected) { return known }
        if state.refresh == nil {
          state.lastRefresh += 1
          let refresh = state.lastRefresh
          state.refresh = Refresh(number: refresh, task: Task { await self.run(refresh, rejected) })
        }
        state.refresh?.waiters[number] = waiter
        return nil
      }
    }

    /// Ends the waiting of one request with an error.
    private func leave(_ number: Int, _ error: any Error) {
      let (waiter, task) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
        guard let waiter = state.refresh?.waiters.removeValue(forKey: number) else { return (nil, nil) }
        guard state.refresh?.waiters.isEmpty == true else { return (waiter, nil) }
        defer { state.refresh = nil }
        return (waiter, state.refresh?.task)
      }
      task?.cancel()
      waiter?.resume(throwing: error)
    }

    private func run(_ number: Int, _ rejected: RemoteToken?) async {
      let result: Result<RemoteToken, any Error>
      do {
        let token = try await provider(rejected)
        guard Self.isValid(token.text) else { throw Self.malformed }
        result = .success(token)
      } catch {
        result = .failure(Self.failure(error))
      }
      let waiters = state.withLock { state -> [Int: Waiter] in
        // A late token is kept unless a newer call has begun.
        if case .success(let token) = result, number == state.lastRefresh {
          state.token = token
          state.end = token.expiration.map(Self.end)
        }
        guard state.refresh?.number == number else { return [:] }
        defer { state.refresh = nil }
        return state.refresh?.waiters ?? [:]
      }
      for waiter in waiters.values { waiter.resume(with: result) }
    }

    /// When to replace a token, by a clock that nobody sets.
    private static func end(of expiration: Date) -> ContinuousClock.Instant {
      let rest = Duration.seconds(min(max(expiration.timeIntervalSinceNow, 0), 1e9))
      return .now + rest - min(margin, rest / 2)
    }

    /// Whether a header can contain a token.
    static func isValid(_ text: String) -> Bool {
      !text.isEmpty && text.utf8.allSatisfy { $0 > 32 && $0 < 127 }
    }

    private static let malformed = PersistenceError(
      .unauthorized, "the token provider returned a token that is empty or not visible ASCII; return another")

    private static func late(_ time: Duration) -> PersistenceError {
      PersistenceError(.timedOut, "the token provider returned no token within \(time); nothing was sent")
    }

    /// The error of a request whose provider fails.
    ///
    /// Only errors that time repairs keep their code: any other could look like the server's answer to a write.
    private static func failure(_ error: any Error) -> PersistenceError {
      let known = error as? PersistenceError
      if let known, known.isRetryable || known.code == .unauthorized { return known }
      return PersistenceError(
        .unauthorized,
        "the token provider failed (\(known.map { "\($0)" } ?? "\(error)")); nothing was sent; sign in again")
    }
  }
#endif
