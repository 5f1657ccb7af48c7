import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PersistenceDriver
import PersistenceHTTP

extension StoreResponder {
  func respond(to request: Request, of connection: Connection) async throws -> Response {
    let start = ContinuousClock.now
    let client = Client(connection)
    var answer: Answer
    do {
      answer = try await self.answer(request, client)
    } catch let problem as Problem {
      answer = .problem(problem)
    } catch let error as PersistenceError where error.code == .cancelled {
      // The client has gone, or the server was stopped: nobody waits for an answer.
      metrics.add(request.method, status: Self.goneStatus, error: nil, time: ContinuousClock.now - start)
      throw CancellationError()
    } catch let error as PersistenceError {
      let problem = Problem(error)
      if problem.status >= 500 { logger.error("a request failed", metadata: ["error": "\(error)"]) }
      answer = .problem(problem)
    } catch let error as CancellationError {
      throw error
    } catch {
      // The connection failed or the request is malformed, so no answer is possible.
      logger.debug("cannot read a request", metadata: ["error": "\(error)"])
      throw error
    }
    answer.headers += origins.headers(for: request.head)
    let time = ContinuousClock.now - start
    metrics.add(request.method, status: answer.status, error: answer.error, time: time)
    logger.info("request", metadata: Self.record(request, answer.status, time, connection.channel))
    return response(answer, to: request, of: client)
  }

  /// The status of requests whose clients went before their answers, in metrics only.
  private static let goneStatus = 499

  /// The line of the access log: without parameters, which contain data, and without the token.
  private static func record(_ request: Request, _ status: Int, _ time: Duration, _ channel: (any Channel)?)
    -> Logger.Metadata
  {
    [
      "method": "\(request.method.rawValue)",
      "path": "\((request.head.path ?? "").prefix { $0 != "?" }.prefix(200))",
      "status": "\(status)", "milliseconds": "\(Int(time / .milliseconds(1)))",
      "peer": "\(channel?.remoteAddress?.ipAddress ?? "local")",
    ]
  }
}
