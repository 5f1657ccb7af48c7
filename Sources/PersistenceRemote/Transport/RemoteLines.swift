import AsyncHTTPClient
import NIOCore
import PersistenceDriver
import PersistencePrimitives

/// The lines of a streamed answer; releasing it ends the request.
///
/// It is used by one task at a time, as the iterators of asynchronous sequences are.
final class RemoteLines: @unchecked Sendable {  // see above
  private var iterator: HTTPClientResponse.Body.AsyncIterator
  private var rest = ByteBuffer()
  private var scanned = 0
  private let lineLimit: Int
  private let location: String

  init(_ body: HTTPClientResponse.Body, lineLimit: Int, location: String) {
    iterator = body.makeAsyncIterator()
    self.lineLimit = lineLimit
    self.location = location
  }

  /// The next line as JSON; nil at the end of an answer that is whole.
  func next() async throws(PersistenceError) -> JSONValue? {
    while true {
      let view = rest.readableBytesView
      if let end = view[(view.startIndex + scanned)...].firstIndex(of: UInt8(ascii: "\n")) {
        let length = end - view.startIndex
        scanned = 0
        let line = rest.readSlice(length: length) ?? ByteBuffer()
        rest.moveReaderIndex(forwardBy: 1)
        if rest.readerIndex > 1 << 20 { rest.discardReadBytes() }
        if line.readableBytes > 0 { return try parse(line) }
        continue
      }
      scanned = view.count
      guard scanned <= lineLimit else {
        throw TransportFailure.tooLong("line", location)
      }
      var more: ByteBuffer?
      do {
        more = try await iterator.next()
      } catch {
        throw TransportFailure.error(error, location: location)
      }
      guard var more else {
        guard rest.readableBytes == 0 else {
          throw PersistenceError(.unreachable, "the server's answer ends within a line", location: location)
        }
        return nil
      }
      if rest.readableBytes == 0 {
        rest = more
      } else {
        rest.writeBuffer(&more)
      }
    }
  }

  private func parse(_ line: ByteBuffer) throws(PersistenceError) -> JSONValue {
    do {
      return try line.withUnsafeReadableBytes { try JSONParser.parse($0) }
    } catch {
      throw PersistenceError(
        .damaged, "a line of the server's answer is no JSON: \(error)", location: location)
    }
  }
}
