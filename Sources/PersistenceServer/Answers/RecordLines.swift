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

  private struct EndOfChunk: Error {}

  /// How long a chunk is at most, in bytes, but for its last record.
  private static let chunkSize = 128 << 10

  init(_ results: any StorageResults, _ schema: ModelSchema) {
    self.results = results
    writer = RecordWriter(schema)
  }

  /// The next lines; nil at the end.
  func next() throws -> [UInt8]? {
    var place = place.withLock(\.self)
    if place.isAtEnd { return nil }
    var (bytes, read) = ([UInt8](), 0)
    do {
      _ = try results.read(from: place.offset, limit: place.rows) { row in
        // However many rows were expected to fit: records may be as long as a store keeps them.
        guard bytes.count < Self.chunkSize else { throw EndOfChunk() }
        try writer.append(row, to: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        read += 1
      }
      place.isAtEnd = read < place.rows
    } catch is EndOfChunk {}
    place.offset += read
    // As many rows as the size of these lets expect, so that neither long nor short ones make odd chunks.
    if read > 0 { place.rows = min(4096, max(1, Self.chunkSize * read / max(1, bytes.count))) }
    let next = place
    self.place.withLock { $0 = next }
    return bytes.isEmpty ? nil : bytes
  }
}
