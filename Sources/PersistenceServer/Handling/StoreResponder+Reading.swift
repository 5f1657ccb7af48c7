#if HTTP
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceHTTP
  import Synchronization

  extension StoreResponder {
    /// A client of one connection, as its last request shows it.
    final class Client: Sendable {
      let connection: Connection
      private let token = Mutex<Int?>(nil)

      init(_ connection: Connection) { self.connection = connection }

      func set(_ number: Int?) { token.withLock { $0 = number } }

      /// Whose reads count together.
      var admission: ReadAdmission.Client {
        ReadAdmission.Client(token: token.withLock(\.self), peer: connection.peer)
      }
    }

    /// Reads the next bytes of an answer when the budget of all answers allows it; nil if there are none.
    func readWithinBudget(
      for client: Client, _ body: @escaping @Sendable () throws -> [UInt8]?
    ) async throws -> [UInt8]? {
      let hasWaited = budget.isFull
      if hasWaited { try await limited(client) { try await budget.wait($0) } }
      var bytes: [UInt8]?
      // An answer without bytes is never received, which would let the next one continue.
      defer { if hasWaited, bytes == nil { budget.remove(0) } }
      bytes = try await read(for: client, body)
      return bytes
    }

    /// The answer to a brief read, on the thread of its task; nil if it needs a thread that may block.
    func answerAtOnce(_ request: ServiceRequest, _ client: Client) async throws -> Answer? {
      let shared = shared
      if case .record = request.path {
        return try await immediate.run { try shared.service.answer(request) }
      }
      guard let page = shared.service.briefPage(of: request) else { return nil }
      // Its records may lie on a slow disk, so it ends at the time limit.
      let answer: Answer?? = try await limited(client) { interruption in
        try await immediate.run { try interruption.run { try shared.service.answer(page, to: request) } }
      }
      guard let answer else { return nil }
      return answer
    }

    /// Runs a read of a client on a thread, until its time has passed or the client has gone.
    func read<Result: Sendable>(
      for client: Client, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
      try await limited(client) { interruption in
        let permit = try await admission.enter(client.admission, interruption)
        return try await reading.run(until: interruption) {
          defer { permit.end() }
          return try body()
        }
      }
    }

    /// Runs a closure that its interruption ends after the time of a request, or when the client has gone.
    func limited<Result>(
      _ client: Client, _ body: (ReadInterruption) async throws -> Result
    ) async throws -> Result {
      let (interruption, time) = (ReadInterruption(), service.limits.requestTime)
      let timer = DeadlineTimer(after: time) {
        interruption.request(PersistenceError(.timedOut, "the request took longer than \(time)"))
      }
      defer { timer.cancel() }
      return try await client.connection.whileConnected(interruption) { try await body(interruption) }
    }
  }
#endif
