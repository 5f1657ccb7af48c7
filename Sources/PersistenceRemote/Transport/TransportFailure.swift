import AsyncHTTPClient
import NIOCore
import PersistenceDriver

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
      return tooLong("answer", location)
    default: return unreachable("\(error)", location)
    }
  }

  /// An answer that is not read to its end.
  ///
  /// What it answers to may have been done, so it is no refusal.
  static func tooLong(_ what: String, _ location: String) -> PersistenceError {
    PersistenceError(
      .inputOutput, "the server's \(what) is longer than the options of the remote store allow",
      location: location)
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
