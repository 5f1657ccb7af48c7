import PersistenceDriver
import PersistenceHTTP
import Synchronization

/// The body of a streamed answer, in chunks, for one request.
protocol AnswerStream: Sendable {
  /// The next bytes; nil at the end.
  func next() throws -> [UInt8]?
}

/// The records of a query as lines, in chunks, for a streamed answer.
///
/// It holds a snapshot while it exists. One request uses it.
final class RecordLines: AnswerStream {
  private let results: any StorageResults
  private let writer: RecordWriter
  private let progress = Mutex(Progress())

  private struct Progress {
    var offset = 0
    var rows = 64
    var isAtEnd = false
  }

  private struct EndOfChunk: Error {}

  /// The maximum size of a chunk in bytes, apart from its last record.
  private static let chunkSize = 128 << 10

  init(_ query: WireQuery, in service: StoreService) throws {
    let fields = AnswerFields(query, nil)
    writer = fields.writer
    results = try fields.fetch(service.answerable(query).request)
  }

  /// The next lines; nil at the end.
  func next() throws -> [UInt8]? {
    var progress = progress.withLock(\.self)
    if progress.isAtEnd { return nil }
    var (bytes, read) = ([UInt8](), 0)
    do {
      _ = try results.read(from: progress.offset, limit: progress.rows) { row in
        // The estimated number of rows can be too high, since records have no size limit.
        guard bytes.count < Self.chunkSize else { throw EndOfChunk() }
        try writer.append(row, to: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        read += 1
      }
      progress.isAtEnd = read < progress.rows
    } catch is EndOfChunk {}
    progress.offset += read
    // Estimate the rows of the next chunk from the size of these.
    if read > 0 { progress.rows = min(4096, max(1, Self.chunkSize * read / max(1, bytes.count))) }
    let next = progress
    self.progress.withLock { $0 = next }
    return bytes.isEmpty ? nil : bytes
  }
}
