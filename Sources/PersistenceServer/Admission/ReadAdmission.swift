#if HTTP
  import PersistenceDriver
  import PersistenceDriverSupport
  import Synchronization

  /// Shares the reading threads among clients: each may use some of them at a time, and its other reads wait.
  final class ReadAdmission: Sendable {
    /// A client: its token and its machine.
    struct Client: Hashable, Sendable {
      /// The number of the token; nil without tokens.
      var token: Int?
      var peer: Peer?
    }

    /// The permission for one read, which ends with the object at the latest.
    final class Permit: Sendable {
      private let admission: ReadAdmission
      private let client: Client
      private let hasEnded = Atomic(false)

      fileprivate init(_ admission: ReadAdmission, _ client: Client) {
        (self.admission, self.client) = (admission, client)
      }

      deinit { end() }

      /// Ends the read, and starts the next one of the client.
      func end() {
        if !hasEnded.exchange(true, ordering: .relaxed) { admission.leave(client) }
      }
    }

    private final class Waiter: Sendable {
      typealias Continuation = CheckedContinuation<Permit, any Error>
      private let continuation: Mutex<Continuation?>

      init(_ continuation: Continuation) { self.continuation = Mutex(continuation) }

      func take() -> Continuation? { continuation.withLock { $0.take() } }
    }

    private struct Queue {
      var running = 0
      var waiting: [Waiter] = []
    }

    private struct State {
      var queues: [Client: Queue] = [:]
      var waiting = 0
    }

    private let limit: Int
    private let waitingLimit: Int
    private let clientWaitingLimit: Int
    private let gauge: ServerGauge
    /// Each read on a thread passes this lock twice.
    private let state = Lock(State())

    /// Creates the admission.
    ///
    /// `limit` is the number of concurrent reads of a client; `waitingLimit` is the number of waiting reads of all clients,
    /// of which one client may have half, and `gauge` shows it.
    init(limit: Int, waitingLimit: Int, gauge: ServerGauge = ServerGauge()) {
      (self.limit, self.gauge) = (limit, gauge)
      self.waitingLimit = waitingLimit
      clientWaitingLimit = max(1, waitingLimit / 2)
    }

    /// The number of waiting reads.
    var waiting: Int { state.withLock { $0.waiting } }

    /// Waits until a client may read.
    ///
    /// Throws the interruption's error, and ``PersistenceError/Code/busy`` where too many reads wait.
    func enter(_ client: Client, _ interruption: ReadInterruption) async throws -> Permit {
      if state.withLock({ start(client, &$0) }) { return Permit(self, client) }
      let handler = Mutex<Int?>(nil)
      defer { if let number = handler.withLock(\.self) { interruption.forget(number) } }
      return try await withCheckedThrowingContinuation { continuation in
        let waiter = Waiter(continuation)
        let isWaiting: Bool
        do {
          isWaiting = try add(waiter, client)
        } catch {
          waiter.take()?.resume(throwing: error)
          return
        }
        guard isWaiting else {
          waiter.take()?.resume(returning: Permit(self, client))
          return
        }
        let number = interruption.whenRequested { [self] error in
          guard let continuation = waiter.take() else { return }
          remove(waiter, client)
          continuation.resume(throwing: error)
        }
        handler.withLock { $0 = number }
      }
    }

    /// Starts a read if its client may, or adds it to the waiting ones; returns whether it waits.
    private func add(_ waiter: Waiter, _ client: Client) throws -> Bool {
      try state.withLock { state in
        if start(client, &state) { return false }
        var queue = state.queues[client] ?? Queue()
        guard state.waiting < waitingLimit, queue.waiting.count < clientWaitingLimit else {
          throw PersistenceError(.busy, "too many requests wait for a thread; try again later")
        }
        queue.waiting.append(waiter)
        state.waiting += 1
        gauge.add(1)
        state.queues[client] = queue
        return true
      }
    }

    /// Starts a read if its client may; returns whether it has.
    private func start(_ client: Client, _ state: inout State) -> Bool {
      guard state.queues[client, default: Queue()].running < limit else { return false }
      state.queues[client, default: Queue()].running += 1
      return true
    }

    private func remove(_ waiter: Waiter, _ client: Client) {
      state.withLock { state in
        guard let index = state.queues[client]?.waiting.firstIndex(where: { $0 === waiter }) else { return }
        state.queues[client]?.waiting.remove(at: index)
        state.waiting -= 1
        gauge.add(-1)
      }
    }

    private func leave(_ client: Client) {
      let next = state.withLock { state -> Waiter.Continuation? in
        guard var queue = state.queues[client] else { return nil }
        defer { state.queues[client] = queue.running == 0 && queue.waiting.isEmpty ? nil : queue }
        while !queue.waiting.isEmpty {
          state.waiting -= 1
          gauge.add(-1)
          // The permission passes to the next read; one that was interrupted has no continuation any more.
          if let continuation = queue.waiting.removeFirst().take() { return continuation }
        }
        queue.running -= 1
        return nil
      }
      next?.resume(returning: Permit(self, client))
    }
  }
#endif
