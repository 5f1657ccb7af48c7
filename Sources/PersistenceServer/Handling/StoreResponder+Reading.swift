import PersistenceDriver
import PersistenceDriverSupport
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
