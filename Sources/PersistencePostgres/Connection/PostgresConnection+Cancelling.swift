import CPostgres
import Foundation
import PersistenceDriverSupport

extension PostgresConnection {
  /// A request to cancel a statement, which connects to the server.
  private struct Request: @unchecked Sendable {  // one thread uses and frees it
    let handle: OpaquePointer

    func send() {
      var message = [CChar](repeating: 0, count: 256)
      _ = PQcancel(handle, &message, Int32(message.count))
      PQfreeCancel(handle)
    }
  }

  /// Asks the server to cancel the running statement, and waits until it has been told, but no longer than a time limit.
  ///
  /// A later request could meet another statement, so the connection is not used again then.
  func cancel(within seconds: Double = 1) {
    guard let request = PQgetCancel(handle).map(Request.init) else { return }
    let isSent = DispatchSemaphore(value: 0)
    store.cancelling.release {
      request.send()
      isSent.signal()
    }
    if isSent.wait(timeout: .now() + seconds) == .timedOut { abandon() }
  }

  /// Asks the server to cancel the running statement, without waiting for a server that may not answer.
  func cancelLater() {
    guard let request = PQgetCancel(handle).map(Request.init) else { return }
    store.cancelling.release { request.send() }
  }
}
