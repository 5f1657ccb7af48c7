import PersistenceDriver

/// Makes elements of the rows that a context gives, and names record and store in whatever goes wrong.
struct RowDecoder<Element: Sendable>: Sendable {
  let schema: ModelSchema
  let location: String
  /// Where the key's values stand in the rows; nil where the rows lack one, as those of a selection may.
  private let keyPositions: [Int]?
  private let decode: @Sendable (borrowing Row) throws -> Element

  /// Creates a decoder.
  ///
  /// - Parameters:
  ///   - schema: The model.
  ///   - selected: The fields that the rows have, in their order there; nil for all of the schema.
  ///   - location: Where the store is.
  ///   - decode: Makes an element of a row.
  init(
    schema: ModelSchema, selecting selected: [Int]?, location: String,
    decode: @escaping @Sendable (borrowing Row) throws -> Element
  ) {
    self.schema = schema
    self.location = location
    self.decode = decode
    guard let selected else {
      keyPositions = schema.keyPositions
      return
    }
    let places = schema.keyPositions.compactMap(selected.firstIndex)
    keyPositions = places.count == schema.keyPositions.count ? places : nil
  }

  /// Decodes rows into their places: an append that is not compiled for the model costs more than decoding it.
  ///
  /// - Parameters:
  ///   - rows: What is read.
  ///   - offset: The first row.
  ///   - page: The places; as many rows are read at most.
  /// - Returns: How many there were; no element is left where it throws.
  /// - Throws: ``PersistenceError``.
  func read(
    _ rows: any StorageResults, from offset: Int, into page: UnsafeMutableBufferPointer<Element>
  ) throws -> Int {
    var count = 0
    do {
      _ = try rows.read(from: offset, limit: page.count) { row in
        guard count < page.count else {
          throw PersistenceError(.engineFailure, "the context gave more rows than were asked for")
        }
        do {
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

  /// The key of a row that could not be decoded; nil where the row lacks it, or it is damaged too.
  private func key(of row: borrowing Row) -> RecordKey? {
    guard let keyPositions else { return nil }
    var values: [PersistentValue] = []
    for position in keyPositions {
      guard position < row.count, let value = try? row.value(at: position) else { return nil }
      values.append(value)
    }
    return RecordKey(values)
  }

  /// An error with the model and the store that it is about.
  func located(_ error: any Error) -> any Error {
    (error as? PersistenceError)?.at(model: schema.name, location: location) ?? error
  }
}

/// Elements on their way into one array, whose number is known only at the end.
///
/// They are decoded into chunks of growing size, and moved once: nothing is retained, and the array is as long as it
/// must be.
struct ElementChunks<Element>: ~Copyable {
  private static var largest: Int { 4_096 }

  private var chunks: [UnsafeMutableBufferPointer<Element>] = []
  private var capacity: Int

  /// How many elements there are.
  private(set) var count = 0

  /// Makes room for so many elements at first.
  init(capacity: Int) { self.capacity = capacity }

  deinit {
    for chunk in chunks {
      chunk.deinitialize()
      chunk.deallocate()
    }
  }

  /// Adds what a closure makes.
  ///
  /// - Parameters:
  ///   - limit: How many at most.
  ///   - fill: Initialises elements from the beginning on, and says how many; none are left where it throws.
  /// - Returns: Whether the chunk is full, so that there may be more.
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

  /// Moves all elements into an array; none are left here.
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
