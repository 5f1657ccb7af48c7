import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PersistenceDriver

/// The bodies of answers, which are sent as fast as the client receives them.
extension StoreResponder {
  /// Answers up to this size are sent at once, and do not count in the budget.
  private static let smallSize = 64 << 10

  func whole(_ text: String, _ type: String, _ headers: inout HTTPFields) -> ResponseBody {
    headers[.contentType] = type
    let buffer = ByteBuffer(string: text)
    let size = buffer.readableBytes
    guard size > Self.smallSize else { return ResponseBody(byteBuffer: buffer) }
    let share = BudgetShare(budget, size)
    return ResponseBody(contentLength: size) { writer in
      try await writer.write(buffer)
      // It suspends until the client has received most of the answer.
      try await writer.finish(nil)
      share.end()
    }
  }

  func streamed(_ stream: any AnswerStream, _ client: Client) -> ResponseBody {
    ResponseBody { [self] writer in
      do {
        var last: BudgetShare?
        defer { last?.end() }
        while let chunk = try await next(of: stream, client) {
          let share = BudgetShare(budget, chunk.count)
          // It suspends until the client has received most of the last chunk.
          try await writer.write(ByteBuffer(bytes: chunk))
          last?.end()
          last = share
        }
      } catch let error as PersistenceError {
        report(error)
        throw error
      }
      try await writer.finish(nil)
    }
  }

  /// Reports the error of a streamed answer.
  ///
  /// The head has been sent, so only a broken connection can show that the answer is incomplete.
  func report(_ error: PersistenceError) {
    guard error.code != .cancelled else { return }
    metrics.add(error.code)
    logger.error("a streamed answer failed", metadata: ["error": "\(error)"])
  }

  private func next(of stream: any AnswerStream, _ client: Client) async throws -> [UInt8]? {
    try await readWithinBudget(for: client) { try stream.next() }
  }
}
