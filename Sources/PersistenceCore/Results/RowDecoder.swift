import PersistenceDriver

/// Decodes the rows of a context into elements, and adds the record and the store to errors.
struct RowDecoder<Element: Sendable>: Sendable {
  let schema: ModelSchema
  let location: String
  /// The positions of the key fields in the rows; nil if the rows lack one, as those of a selection may.
  private let keyPositions: [Int]?
  private let decode: @Sendable (borrowing Row) throws -> Element
  /// Decodes a whole page at once, if elements need more than their rows; returns their number.
  private let decodePage:
    (
      @Sendable (_ rows: any StorageResults, _ offset: Int, _ page: UnsafeMutableBufferPointer<Element>)
        throws
        -> Int
    )?
  /// The number of elements in a page.
  let pageSize: Int

  /// Creates a decoder of rows with the selected fields, in order; nil for all fields of the schema.
  init(
    schema: ModelSchema, selecting selected: [Int]?, location: String,
    decode: @escaping @Sendable (borrowing Row) throws -> Element
  ) {
    self.schema = schema
    self.location = location
    self.decode = decode
    decodePage = nil
    pageSize = ElementPage<Element>.size
    guard let selected else {
      keyPositions = schema.keyPositions
      return
    }
    let places = schema.keyPositions.compactMap(selected.firstIndex)
    keyPositions = places.count == schema.keyPositions.count ? places : nil
  }

  /// Creates a decoder of elements that a closure makes of a page of models and the values of some fields.
  ///
  /// Each page takes further requests, so pages are large unless they are long, because elements have many records.
  init<Model: PersistentRecord>(
    _ models: RowDecoder<Model>, fields: [Int], isLong: Bool,
    _ load: @escaping @Sendable (RelatedPage<Model>) throws -> (Int) -> Element
  ) {
    (schema, location, keyPositions) = (models.schema, models.location, models.keyPositions)
    pageSize = isLong ? ElementPage<Element>.size : RelatedReader.chunk
    let fields = Set(fields)
    decode = { _ in throw PersistenceError(.unsupported, "these elements are decoded by page") }
    decodePage = { rows, offset, page in
      var values = FieldValues(of: fields)
      let records = try models.page(rows, from: offset, limit: page.count, &values)
      if records.isEmpty { return 0 }
      let element = try load(RelatedPage(records, values))
      for position in records.indices { page.initializeElement(at: position, to: element(position)) }
      return records.count
    }
  }

  /// Decodes rows in place: an append that is not specialized for the model costs more than decoding.
  ///
  /// The size of the memory limits the number of rows. If it throws, no element remains.
  func read(
    _ rows: any StorageResults, from offset: Int, into page: UnsafeMutableBufferPointer<Element>
  ) throws -> Int {
    guard let decodePage else { return try read(rows, from: offset, into: page) { _ in } }
    do {
      return try decodePage(rows, offset, page)
    } catch {
      throw located(error)
    }
  }

  /// Decodes rows, and calls a closure with each of them.
  @inline(__always)
  private func read(
    _ rows: any StorageResults, from offset: Int, into page: UnsafeMutableBufferPointer<Element>,
    _ visit: (borrowing Row) throws -> Void
  ) throws -> Int {
    var count = 0
    do {
      _ = try rows.read(from: offset, limit: page.count) { row in
        guard count < page.count else {
          throw PersistenceError(
            .engineFailure, "the context returned more rows than requested; report this to its author")
        }
        do {
          try visit(row)
          page.initializeElement(at: count, to: try decode(row))
        } catch let error as PersistenceError {
          throw error.at(model: schema.name, key: key(of: row), location: location)
        }
        count += 1
      }
    } catch {
      page[..<count].deinitialize()
      throw located(error)
    }
    return count
  }

  /// One page of rows.
  func page(_ rows: any StorageResults, from offset: Int, limit: Int) throws -> [Element] {
    try Array(unsafeUninitializedCapacity: limit) { page, count in
      count = try read(rows, from: offset, into: page)
    }
  }

  /// One page of rows, whose values of some fields are collected.
  func page(_ rows: any StorageResults, from offset: Int, limit: Int, _ values: inout FieldValues) throws
    -> [Element]
  {
    try Array(unsafeUninitializedCapacity: limit) { page, count in
      count = try read(rows, from: offset, into: page) { try values.add($0) }
    }
  }

  /// The key of a row that could not be decoded; nil if the row lacks it, or it is damaged too.
  private func key(of row: borrowing Row) -> RecordKey? {
    guard let keyPositions else { return nil }
    var values: [PersistentValue] = []
    for position in keyPositions {
      guard position < row.count, let value = try? row.value(at: position) else { return nil }
      values.append(value)
    }
    return RecordKey(values)
  }

  /// An error with its model and its store.
  func located(_ error: any Error) -> any Error {
    (error as? PersistenceError)?.at(model: schema.name, location: location) ?? error
  }
}

/// Collects elements for one array, whose size is known only at the end.
///
/// Elements are decoded into chunks of growing size, and moved once. Nothing is retained, and the array has
/// exactly the needed size.
struct ElementChunks<Element>: ~Copyable {
  private static var largest: Int { 4_096 }

  private var chunks: [UnsafeMutableBufferPointer<Element>] = []
  private var capacity: Int

  /// The number of elements.
  private(set) var count = 0

  /// Reserves memory for the first elements.
  init(capacity: Int) { self.capacity = capacity }

  deinit {
    for chunk in chunks {
      chunk.deinitialize()
      chunk.deallocate()
    }
  }

  /// Appends the elements that a closure initializes from the beginning; if it throws, it leaves none.
  ///
  /// Returns whether the chunk is full, so that there may be more.
  mutating func append(
    atMost limit: Int, _ fill: (UnsafeMutableBufferPointer<Element>) throws -> Int
  ) rethrows -> Bool {
    guard limit > 0 else { return false }
    let chunk = UnsafeMutableBufferPointer<Element>.allocate(capacity: Swift.min(capacity, limit))
    do {
      let filled = try fill(chunk)
      chunks.append(UnsafeMutableBufferPointer(rebasing: chunk[..<filled]))
      count += filled
      let isFull = filled == chunk.count
      capacity = Swift.min(2 * capacity, Self.largest)
      return isFull
    } catch {
      chunk.deallocate()
      throw error
    }
  }

  /// Moves all elements into an array; none remain here.
  mutating func take() -> ContiguousArray<Element> {
    let chunks = chunks
    self.chunks = []
    return ContiguousArray(unsafeUninitializedCapacity: count) { target, count in
      for chunk in chunks {
        count = target[count...].moveInitialize(fromContentsOf: chunk)
        chunk.deallocate()
      }
    }
  }
}
