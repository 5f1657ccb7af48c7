import PersistenceDriver

/// The records of a model in the order of their keys, as keys and digests, read a page at a time.
struct RecordStream {
  /// What is known of a record without holding it.
  struct Entry {
    let key: RecordKey
    /// The digest over the fields that both sides have.
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

  /// How many records have been read, and their digest over all fields.
  private(set) var content = StoreContent()

  /// Begins to read.
  ///
  /// - Parameters:
  ///   - schema: The model.
  ///   - reader: Where it is read.
  ///   - shared: The fields that both sides have, where they do not have the same ones.
  /// - Throws: ``PersistenceError`` where the model cannot be read.
  init(_ schema: ModelSchema, in reader: any StorageReader, shared: Set<StoredName>?) throws {
    results = try reader.fetch(try FetchRequest(schema))
    self.schema = schema
    digester = RecordDigester(schema)
    sharedDigester = shared.map { RecordDigester(schema, fields: $0) }
  }

  /// The record that the stream stands at; nil at its end.
  mutating func current() throws -> Entry? {
    if position == page.count, !isFinished { try readPage() }
    return position < page.count ? page[position] : nil
  }

  /// Steps to the next record.
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
