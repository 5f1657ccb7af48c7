import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import PersistenceDriver
import PersistenceHTTP

/// Turns what the client library throws into errors of this package.
enum TransportFailure {
  static func error(_ error: any Error, location: String) -> PersistenceError {
    switch error {
    case let error as PersistenceError: return error.at(location: location)
    case is CancellationError: return cancelled(location)
    case let error as HTTPClientError:
      switch error {
      case .cancelled, .requestStreamCancelled: return cancelled(location)
      case .connectTimeout, .readTimeout, .writeTimeout, .deadlineExceeded, .tlsHandshakeTimeout,
        .getConnectionFromPoolTimeout:
        return PersistenceError(
          .timedOut,
          "the server did not answer in time (\(error.shortDescription)); what was to be written may be",
          location: location)
      case .invalidURL, .emptyHost, .emptyScheme:
        return PersistenceError(.invalidURL, "the URL is none of a server", location: location)
      case .alreadyShutdown: return PersistenceError.closed("the remote store").at(location: location)
      default: return unreachable(error.shortDescription, location)
      }
    case is NIOTooManyBytesError:
      return PersistenceError(
        .valueTooLarge, "the server's answer is longer than the options of the remote store allow",
        location: location)
    default: return unreachable("\(error)", location)
    }
  }

  private static func cancelled(_ location: String) -> PersistenceError {
    PersistenceError(
      .cancelled, "the task that asked was cancelled; what was to be written may be", location: location)
  }

  private static func unreachable(_ reason: String, _ location: String) -> PersistenceError {
    PersistenceError(
      .unreachable, "the server cannot be reached, or broke the connection off (\(reason)); try again later",
      location: location)
  }
}

/// An answer that is a failure.
struct RemoteFailure: Error {
  /// The status.
  let status: Int
  /// The error that it stands for.
  let error: PersistenceError

  init(_ reply: RemoteClient.Reply, at location: String) {
    status = reply.status
    if let json = try? reply.json(), let problem = Problem(json, status: reply.status) {
      // A token is missing or does not suffice, whichever of the two.
      error = problem.error(at: location)
      return
    }
    let code: PersistenceError.Code =
      switch reply.status {
      case 401, 403: .unauthorized
      case 404, 410: .notFound
      case 408, 504: .timedOut
      case 409, 412: .conflict
      case 413: .valueTooLarge
      case 429, 503: .busy
      case 502: .unreachable
      case 500...: .engineFailure
      default: .invalidRequest
      }
    error = PersistenceError(code, "the server answered with the status \(reply.status)", location: location)
  }
}
