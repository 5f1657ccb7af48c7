#if HTTP
  import AsyncHTTPClient
  import Foundation
  import NIOCore
  import NIOHTTP1
  import PersistenceDriver
  import PersistenceHTTP

  /// An answer with an error.
  struct RemoteFailure: Error {
    let error: PersistenceError

    /// An error answer at the URL of a server of this package.
    ///
    /// Such a server sends a problem. Anything else comes from a proxy, which knows nothing of records: its 404
    /// during a deployment does not mean that a record is gone, nor its 409 that a change conflicts.
    init(fromServer reply: RemoteClient.Reply, at location: String) {
      self.init(reply, at: location) { status in
        let code: PersistenceError.Code =
          switch status {
          case 401, 403: .unauthorized
          // The proxy would reject every retry for its size.
          case 413: .valueTooLarge
          case 414, 431: .invalidRequest
          default: Self.codeOfAnyServer(status) ?? .unreachable
          }
        let advice =
          code == .unreachable
          ? ", which no server of this package sent; check the URL, or try again later" : ""
        return (code, "the answer has the status \(status)\(advice)")
      }
    }

    /// An error answer of a third-party server, whose statuses have their HTTP meaning.
    init(fromThirdParty reply: RemoteClient.Reply, at location: String) {
      self.init(reply, at: location) { status in
        let code: PersistenceError.Code =
          switch status {
          case 401, 403: .unauthorized
          case 404, 410: .notFound
          case 409, 412: .conflict
          case 413: .valueTooLarge
          default: Self.codeOfAnyServer(status) ?? .invalidRequest
          }
        return (code, "the server answered with the status \(status)")
      }
    }

    /// The error from the answer's problem, or else from its status.
    private init(
      _ reply: RemoteClient.Reply, at location: String,
      byStatus meaning: (Int) -> (code: PersistenceError.Code, message: String)
    ) {
      if let problem = reply.problem {
        error = problem.error(at: location)
      } else {
        let (code, message) = meaning(reply.status)
        error = PersistenceError(code, message, location: location)
      }
    }

    /// The meaning of a status from any server or proxy.
    private static func codeOfAnyServer(_ status: Int) -> PersistenceError.Code? {
      switch status {
      case 408, 504: .timedOut
      case 429: .busy
      // A proxy also sends these if the connection behind it breaks; the request may have been executed.
      case 502, 503: .unreachable
      case 500...: .engineFailure
      default: nil
      }
    }
  }

  extension RemoteClient.Reply {
    /// Whether the body has a media type.
    func isOf(type wanted: String) -> Bool {
      let type = headers.first(name: "Content-Type")?.prefix { $0 != ";" && $0 != " " }
      return type?.lowercased() == wanted
    }

    /// The problem of a server of this package; nil if the answer has none.
    fileprivate var problem: Problem? {
      guard isOf(type: Problem.mediaType), let json = try? json() else { return nil }
      return Problem(json, status: status)
    }
  }

  /// Converts errors of the HTTP client.
  enum TransportFailure {
    static func error(_ error: any Error, location: String) -> PersistenceError {
      switch error {
      case let error as PersistenceError: return error.at(location: location)
      case is CancellationError: return cancelled(location)
      case let error where TLSFailure.error(error, location: location) != nil:
        return TLSFailure.error(error, location: location) ?? unreachable("\(error)", location)
      case let error as HTTPClientError:
        switch error {
        case .cancelled, .requestStreamCancelled: return cancelled(location)
        case .connectTimeout, .readTimeout, .writeTimeout, .deadlineExceeded, .tlsHandshakeTimeout,
          .getConnectionFromPoolTimeout:
          return PersistenceError(
            .timedOut,
            "the server did not answer in time (\(error.shortDescription)); a write may have happened",
            location: location)
        case .invalidURL, .emptyHost, .emptyScheme:
          return PersistenceError(.invalidURL, "the URL is not that of a server", location: location)
        case .alreadyShutdown: return PersistenceError.closed("the remote server").at(location: location)
        case .remoteConnectionClosed: return broken(error.shortDescription, location)
        default: return unreachable(error.shortDescription, location)
        }
      case let error as IOError where error.errnoCode == ECONNRESET || error.errnoCode == EPIPE:
        return broken("\(error)", location)
      case is NIOTooManyBytesError: return tooLong("answer", location)
      default: return unreachable("\(error)", location)
      }
    }

    /// An answer that exceeds the size limit.
    ///
    /// The request may have been executed, so this is not a rejection.
    static func tooLong(_ what: String, _ location: String) -> PersistenceError {
      PersistenceError(
        .inputOutput, "the server's \(what) is longer than RemoteOptions.answerSize allows; raise the limit",
        location: location)
    }

    private static func cancelled(_ location: String) -> PersistenceError {
      PersistenceError(.cancelled, "the task was cancelled; a write may have happened", location: location)
    }

    /// A connection that broke after the request, whose outcome is thus unknown.
    private static func broken(_ reason: String, _ location: String) -> PersistenceError {
      PersistenceError(
        .unreachable, "the connection to the server broke (\(reason)); a write may have happened",
        location: location)
    }

    private static func unreachable(_ reason: String, _ location: String) -> PersistenceError {
      PersistenceError(
        .unreachable, "the server is unreachable or closed the connection (\(reason)); try again later",
        location: location)
    }
  }

  extension PersistenceError {
    /// Narrows the errors of a closure to `PersistenceError`.
    static func catching<Value>(_ body: () throws -> Value) throws(PersistenceError) -> Value {
      do {
        return try body()
      } catch let error as PersistenceError {
        throw error
      } catch {
        throw PersistenceError(.encodingFailed, "\(error)")
      }
    }
  }
#endif
