import PersistenceDriver

/// The keys and digests of a model's records in key order, read page by page.
struct RecordStream {
  struct Entry {
    let key: RecordKey
    /// The digest over the common fields.
    let shared: RecordDigest
  }

  private let results: any StorageResults
  private let schema: ModelSchema
  private let digester: RecordDigester
  private let sharedDigester: RecordDigester?
  private var page: [Entry] = []
  private var position = 0
  private var isFinished = false
  private var size = PageSize()

  /// The number of records read, and their digest over all fields.
  private(set) var content = ModelContent()

  /// Creates a stream.
  ///
  /// `shared` contains the names of the common fields; nil if both sides have the same fields.
  init(_ schema: ModelSchema, in reader: any StorageReader, shared: Set<StoredName>?) throws {
    results = try reader.fetch(try FetchRequest(schema))
    self.schema = schema
    digester = RecordDigester(schema)
    sharedDigester = shared.map { RecordDigester(schema, fields: $0) }
  }

  /// The current record; nil at the end.
  mutating func current() throws -> Entry? {
    if position == page.count, !isFinished { try readPage() }
    return position < page.count ? page[position] : nil
  }

  mutating func advance() { position += 1 }

  private mutating func readPage() throws {
    var entries: [Entry] = []
    var bytes = 0
    let limit = size.rows
    var content = content
    let read = try results.read(from: content.count, limit: limit) { row in
      let digest = digester.digest(of: row)
      content.digest.add(digest)
      let shared = sharedDigester?.digest(of: row) ?? digest
      entries.append(Entry(key: try RecordKey(of: row, in: schema), shared: shared))
      bytes += row.approximateSize
    }
    content.count += read
    self.content = content
    size.note(rows: read, bytes: bytes)
    isFinished = read < limit
    page = entries
    position = 0
  }
}
