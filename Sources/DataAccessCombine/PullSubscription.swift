import Synchronization

#if canImport(Combine)
  import Combine
#elseif canImport(OpenCombine)
  import OpenCombine
#endif

#if canImport(Combine) || canImport(OpenCombine)
  /// One subscription: a task that waits for demand and then for an element.
  final class PullSubscription<Input: Sendable, Failure: Error>: Subscription, Sendable {
    typealias Next = @Sendable () async throws(Failure) -> Input?

    /// A type-erased subscriber.
    private struct Downstream: @unchecked Sendable {  // one task at a time calls it, on its actor
      let receive: (Input) -> Subscribers.Demand
      let complete: (Subscribers.Completion<Failure>) -> Void
    }

    private struct State {
      var downstream: Downstream?
      var demand = Subscribers.Demand.none
      var waiter: CheckedContinuation<Void, Never>?
      var task: Task<Void, Never>?
      var hasBegun = false
    }

    private let recipient: Recipient
    private let begin: @Sendable () -> Next
    private let state: Mutex<State>

    /// Creates a subscription whose subscriber receives on an actor, or on any thread.
    init<Target: Subscriber>(
      _ target: Target, on recipient: Recipient, _ begin: @escaping @Sendable () -> Next
    ) where Target.Input == Input, Target.Failure == Failure {
      self.recipient = recipient
      self.begin = begin
      let downstream = Downstream {
        target.receive($0)
      } complete: {
        target.receive(completion: $0)
      }
      state = Mutex(State(downstream: downstream))
    }

    func request(_ demand: Subscribers.Demand) {
      guard demand > .none else { return }
      let (waiter, isFirst) = state.withLock { state in
        guard state.downstream != nil else { return (CheckedContinuation<Void, Never>?.none, false) }
        state.demand += demand
        defer {
          state.waiter = nil
          state.hasBegun = true
        }
        return (state.waiter, !state.hasBegun)
      }
      waiter?.resume()
      guard isFirst else { return }
      let task = Task { await run() }
      let isCancelled = state.withLock { state in
        if state.downstream == nil { return true }
        state.task = task
        return false
      }
      if isCancelled { task.cancel() }
    }

    func cancel() {
      let (waiter, task) = state.withLock { state in
        defer {
          state.downstream = nil
          state.waiter = nil
          state.task = nil
        }
        return (state.waiter, state.task)
      }
      waiter?.resume()
      task?.cancel()
    }

    private func run() async {
      let next = begin()
      while await takeDemand() {
        let outcome: Result<Input?, Failure>
        do throws(Failure) {
          outcome = .success(try await next())
        } catch {
          outcome = .failure(error)
        }
        let actor = recipient.actor
        if actor == nil, recipient.isGone { return cancel() }
        switch outcome {
        case .success(let element?): await deliver(element, isolation: actor)
        case .success(nil): return await end(.finished, isolation: actor)
        case .failure(let error): return await end(.failure(error), isolation: actor)
        }
      }
    }

    /// Waits for demand; false if the subscription is cancelled.
    private func takeDemand() async -> Bool {
      while true {
        let isDemanded = state.withLock { state -> Bool? in
          if state.downstream == nil { return false }
          guard state.demand > .none else { return nil }
          state.demand -= 1
          return true
        }
        if let isDemanded { return isDemanded }
        await withCheckedContinuation { continuation in
          let isDue = state.withLock { state in
            if state.downstream == nil || state.demand > .none { return true }
            state.waiter = continuation
            return false
          }
          if isDue { continuation.resume() }
        }
      }
    }

    private func deliver(_ element: Input, isolation: isolated (any Actor)?) async {
      guard let downstream = state.withLock(\.downstream) else { return }
      let more = downstream.receive(element)
      state.withLock { $0.demand += more }
    }

    private func end(
      _ completion: Subscribers.Completion<Failure>, isolation: isolated (any Actor)?
    ) async {
      let downstream = state.withLock { state in
        defer {
          state.downstream = nil
          state.task = nil
        }
        return state.downstream
      }
      downstream?.complete(completion)
    }
  }
#endif
