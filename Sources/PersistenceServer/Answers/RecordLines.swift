import PersistenceDriver
import PersistenceHTTP
import Synchronization

/// The records of a query as lines, a chunk at a time: what a streamed answer holds while it lasts.
///
/// It pins a snapshot as long as it lives. It is used by one request.
final class RecordLines: Sendable {
  private let results: any StorageResults
  private let writer: RecordWriter
  private let place = Mutex(Place())

  private struct Place {
    var offset = 0
    var rows = 64
    var isAtEnd = false
  }

  /// How long a chunk is meant to be, in bytes.
  private static let chunkSize = 128 << 10

  init(_ results: any StorageResults, _ schema: ModelSchema) {
    self.results = results
    writer = RecordWriter(schema)
  }

  /// The next lines; nil at the end.
  func next() throws -> [UInt8]? {
    var place = place.withLock(\.self)
    if place.isAtEnd { return nil }
    var bytes: [UInt8] = []
    let read = try results.read(from: place.offset, limit: place.rows) { row in
      try writer.append(row, to: &bytes)
      bytes.append(UInt8(ascii: "\n"))
    }
    place.offset += read
    place.isAtEnd = read < place.rows
    // As many rows as the size of these lets expect, so that neither long nor short ones make odd chunks.
    if read > 0 { place.rows = min(4096, max(1, Self.chunkSize * read / max(1, bytes.count))) }
    let next = place
    self.place.withLock { $0 = next }
    return bytes.isEmpty ? nil : bytes
  }
}
