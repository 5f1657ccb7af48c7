#if HTTP
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceHTTP
  import Synchronization

  /// A page of records as one JSON object, in chunks.
  ///
  /// A page that is short enough is one chunk. A longer one holds a snapshot until it is sent. One request uses it.
  final class RecordPage: AnswerStream {
    private struct Progress {
      var count = 0
      /// The number of bytes in earlier chunks.
      var size = 0
      var last: [PersistentValue]?
      /// The token of the next page, once the last record was read.
      var next: String?
      /// A chunk that was read but not returned.
      var first: [UInt8]?
      var isComplete = false
    }

    private struct EndOfPage: Error {}
    private struct EndOfChunk: Error {}

    /// The maximum size of a chunk in bytes, apart from its last record.
    private static let chunkSize = 128 << 10
    /// Room for the records of most pages, in bytes.
    private static let usualSize = 8 << 10

    private let order: PageOrder
    private let limit: Int
    private let sizeLimit: Int
    private let results: any StorageResults
    private let fields: AnswerFields
    private let progress = Mutex(Progress())

    /// Fetches the records of a page, and reads its first chunk.
    ///
    /// The request asks for one record more than the limit, which shows whether another page follows. `writer` is that of
    /// whole records, if there is one already.
    init(
      _ query: WireQuery, _ asked: (request: AnswerableRequest, order: PageOrder), limit: Int, sizeLimit: Int,
      _ writer: RecordWriter?
    ) throws {
      (self.limit, self.sizeLimit) = (limit, sizeLimit)
      order = asked.order
      fields = AnswerFields(query, order, writer)
      results = try fields.fetch(asked.request)
      let first = try next()
      progress.withLock { $0.first = first }
    }

    /// Whether no record of the page has been read.
    var isEmpty: Bool { progress.withLock { $0.count == 0 } }

    /// The whole page and the token of the next one, if the first chunk contains it; nil for a longer page.
    func whole() -> (bytes: [UInt8], next: String?)? {
      progress.withLock { progress in
        guard progress.isComplete, let first = progress.first else { return nil }
        return (first, progress.next)
      }
    }

    func next() throws -> [UInt8]? {
      var progress = progress.withLock { progress in
        defer { progress.first = nil }
        return progress
      }
      if let first = progress.first { return first }
      if progress.isComplete { return nil }
      var bytes: [UInt8] = []
      if progress.size == 0 {
        bytes.reserveCapacity(Self.usualSize)
        bytes.append(contentsOf: "{\"records\":[".utf8)
      }
      var isLast = false
      do {
        let wanted = limit + 1 - progress.count
        _ = try results.read(from: progress.count, limit: wanted) { row in
          let isFull = progress.count == limit || progress.size + bytes.count > sizeLimit
          if isFull { throw EndOfPage() }
          guard bytes.count < Self.chunkSize else { throw EndOfChunk() }
          if progress.count > 0 { bytes.append(UInt8(ascii: ",")) }
          try fields.writer.append(row, to: &bytes)
          progress.count += 1
          if progress.count == limit || progress.size + bytes.count > sizeLimit {
            progress.last = try fields.anchor(of: row)
          }
        }
        isLast = true
        progress.last = nil
      } catch is EndOfPage {
        isLast = true
      } catch is EndOfChunk {}
      if isLast {
        progress.next = try progress.last.map { try PositionToken.text(order.anchor(of: $0), of: order) }
        let next = progress.next.map { "\"\($0)\"" } ?? "null"
        bytes.append(contentsOf: "],\"next\":\(next)}".utf8)
        progress.isComplete = true
      }
      progress.size += bytes.count
      let reached = progress
      self.progress.withLock { $0 = reached }
      return bytes
    }
  }
#endif
