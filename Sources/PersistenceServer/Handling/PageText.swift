#if HTTP
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceHTTP

  /// How the records of a page are written.
  ///
  /// A class, because a copy of its parts would count a dozen references for each page.
  final class PageForm: Sendable {
    let fields: AnswerFields
    let order: PageOrder
    /// What tells the tokens of the order from others.
    let fingerprint: String
    /// The number of records.
    let limit: Int
    let sizeLimit: Int

    /// The form of a query's pages; `writer` is that of whole records, if there is one already.
    init(_ query: WireQuery, _ order: PageOrder, limit: Int, sizeLimit: Int, _ writer: RecordWriter?) {
      fields = AnswerFields(query, order, writer)
      (self.order, self.limit, self.sizeLimit) = (order, limit, sizeLimit)
      fingerprint = PositionToken.fingerprint(order)
    }
  }

  /// The text of a page while its records are read, in chunks.
  struct PageText: Sendable {
    private struct EndOfPage: Error {}
    private struct EndOfChunk: Error {}

    /// The maximum size of a chunk in bytes, apart from its last record.
    private static let chunkSize = 128 << 10
    /// Room for the records of most pages, in bytes.
    private static let usualSize = 8 << 10

    private let form: PageForm
    /// The number of records so far.
    private(set) var count = 0
    /// The token of the next page, once the last record was read.
    private(set) var next: String?
    private(set) var isComplete = false
    /// The number of bytes in earlier chunks.
    private var size = 0
    private var bytes: [UInt8] = []
    private var last: [PersistentValue]?

    init(_ form: PageForm) { self.form = form }

    /// How many further rows to read: one more than the page has records, which shows whether another page follows.
    var wanted: Int { form.limit + 1 - count }

    /// The next chunk, of the rows that a closure passes on from number ``count`` on, unless their reader stops it.
    mutating func chunk(_ read: ((borrowing Row) throws -> Void) throws -> Void) throws -> [UInt8] {
      if size == 0 {
        bytes.reserveCapacity(Self.usualSize)
        bytes.append(contentsOf: "{\"records\":[".utf8)
      }
      var isLast = false
      do {
        try read { try append($0) }
        isLast = true
        last = nil
      } catch is EndOfPage {
        isLast = true
      } catch is EndOfChunk {}
      if isLast { try end() }
      let chunk = bytes
      bytes = []
      size += chunk.count
      return chunk
    }

    private mutating func append(_ row: borrowing Row) throws {
      let isFull = count == form.limit || size + bytes.count > form.sizeLimit
      if isFull { throw EndOfPage() }
      guard bytes.count < Self.chunkSize else { throw EndOfChunk() }
      if count > 0 { bytes.append(UInt8(ascii: ",")) }
      try form.fields.writer.append(row, to: &bytes)
      count += 1
      if count == form.limit || size + bytes.count > form.sizeLimit { last = try form.fields.anchor(of: row) }
    }

    private mutating func end() throws {
      next = try last.map {
        try PositionToken.text(form.order.anchor(of: $0), of: form.order, form.fingerprint)
      }
      bytes.append(contentsOf: "],\"next\":".utf8)
      if let next {
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: next.utf8)
        bytes.append(UInt8(ascii: "\""))
      } else {
        bytes.append(contentsOf: "null".utf8)
      }
      bytes.append(UInt8(ascii: "}"))
      isComplete = true
    }
  }
#endif
