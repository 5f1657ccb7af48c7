#if HTTP
  import Foundation
  import NIOCore
  import PersistenceDriver
  import PersistencePrimitives

  /// The server-sent events of an answer.
  ///
  /// Releasing it ends the request.
  final class RemoteEvents: @unchecked Sendable {  // one task at a time uses it
    struct Event {
      var name = ""
      var data = ByteBuffer()
    }

    private let lines: RemoteLines
    private let sizeLimit: Int
    private let location: String

    init(_ lines: RemoteLines, sizeLimit: Int, location: String) {
      (self.lines, self.sizeLimit, self.location) = (lines, sizeLimit, location)
    }

    /// The name and the JSON of the next event; nil at the end.
    func next() async throws(PersistenceError) -> (name: String, json: JSONValue)? {
      var event = Event()
      while var line = try await lines.line() {
        if line.readableBytesView.last == UInt8(ascii: "\r") {
          line = line.getSlice(at: line.readerIndex, length: line.readableBytes - 1) ?? line
        }
        guard line.readableBytes > 0 else {
          // An event without data, such as the end of a comment, is none.
          if event.data.readableBytes > 0 { return (event.name, try json(event.data)) }
          event = Event()
          continue
        }
        let bytes = line.readableBytesView
        let name = bytes.prefix { $0 != UInt8(ascii: ":") }
        var value = bytes.dropFirst(name.count + 1)
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: name, as: UTF8.self) {
        case "event": event.name = String(decoding: value, as: UTF8.self)
        case "data":
          guard event.data.readableBytes + value.count <= sizeLimit else {
            throw TransportFailure.tooLong("event", location)
          }
          if event.data.readableBytes > 0 { event.data.writeInteger(UInt8(ascii: "\n")) }
          event.data.writeBytes(value)
        default: break
        }
      }
      return nil
    }

    private func json(_ data: ByteBuffer) throws(PersistenceError) -> JSONValue {
      do {
        return try data.withUnsafeReadableBytes { try JSONParser.parse($0, of: .envelope) }
      } catch {
        throw PersistenceError(
          .damaged, "an event of the server is not valid JSON: \(error)", location: location)
      }
    }
  }
#endif
