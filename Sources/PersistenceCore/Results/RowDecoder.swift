package import PersistenceDriver

/// Decodes pages of a context's rows into elements.
@usableFromInline
struct RowDecoder<Element: Sendable>: Sendable {
  @usableFromInline let origin: RowOrigin

  /// The number of elements in a page.
  @usableFromInline let pageSize: Int

  /// Decodes rows in place, and returns their number, which the memory limits; if it throws, no element remains.
  @usableFromInline let read:
    @Sendable (_ rows: any StorageResults, _ offset: Int, _ page: UnsafeMutableBufferPointer<Element>) throws
      -> Int

  /// Creates a decoder of elements that take their rows only.
  @inlinable
  init(_ origin: RowOrigin, decode: @escaping @Sendable (borrowing Row) throws -> Element) {
    self.init(origin, pageSize: FetchedRows.pageSize) { rows, offset, page in
      try origin.read(rows, from: offset, into: page, decode)
    }
  }

  /// Creates a decoder of the elements of an inclusion, which are made of a page of records.
  ///
  /// Each page takes further requests, so pages are large unless they are long, because elements have many records.
  @inlinable
  init<Model: PersistentRecord>(
    _ origin: RowOrigin, of inclusion: Inclusion<Model, Element>, _ reader: RelatedReader
  ) throws {
    let (fields, load) = (try inclusion.outline.positions(), inclusion.load)
    let size = inclusion.outline.isLong ? FetchedRows.pageSize : RelatedReader.chunk
    self.init(origin, pageSize: size) { rows, offset, page in
      do {
        var values = FieldValues(of: fields)
        let models = try origin.models(Model.self, rows, from: offset, limit: page.count, &values)
        if models.isEmpty { return 0 }
        let element = try load(RelatedPage(models, values), reader)
        for position in models.indices { page.initializeElement(at: position, to: element(position)) }
        return models.count
      } catch {
        throw origin.located(error)
      }
    }
  }

  @inlinable
  init(
    _ origin: RowOrigin, pageSize: Int,
    read:
      @escaping @Sendable (
        _ rows: any StorageResults, _ offset: Int, _ page: UnsafeMutableBufferPointer<Element>
      ) throws -> Int
  ) {
    (self.origin, self.pageSize, self.read) = (origin, pageSize, read)
  }

  /// One page of elements.
  @inlinable
  func page(_ rows: any StorageResults, from offset: Int, limit: Int) throws -> ContiguousArray<Element> {
    try ContiguousArray(unsafeUninitializedCapacity: limit) { page, count in
      count = try read(rows, offset, page)
    }
  }
}

/// The model and the store of rows, which errors name.
@usableFromInline
struct RowOrigin: Sendable {
  let schema: ModelSchema
  @usableFromInline let location: String
  /// The positions of the key fields in the rows; nil if the rows lack one, as those of a selection may.
  private let keyPositions: [Int]?

  /// Creates the origin of rows with the selected fields, in order; nil for all fields of the schema.
  @usableFromInline
  init(_ schema: ModelSchema, selecting selected: [Int]? = nil, location: String) {
    self.schema = schema
    self.location = location
    guard let selected else {
      keyPositions = schema.keyPositions
      return
    }
    let places = schema.keyPositions.compactMap(selected.firstIndex)
    keyPositions = places.count == schema.keyPositions.count ? places : nil
  }

  /// An error with its model and its store.
  @usableFromInline
  func located(_ error: any Error) -> any Error {
    (error as? PersistenceError)?.at(model: schema.name, location: location) ?? error
  }

  /// An error of decoding a row, with its key.
  @usableFromInline
  func located(_ error: PersistenceError, _ row: borrowing Row) -> PersistenceError {
    error.at(model: schema.name, key: key(of: row), location: location)
  }

  /// The error of a context that passes more rows than it was asked for.
  @usableFromInline
  func surplus() -> PersistenceError {
    PersistenceError(
      .engineFailure, "the context returned more rows than requested; report this to its author")
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
}

// Inlinable, so that the loop over a page is specialized for the models of the app.

extension RowOrigin {
  /// Decodes rows in place: an append that is not specialized for the model costs more than decoding.
  ///
  /// The size of the memory limits the number of rows. If it throws, no element remains.
  @inlinable
  func read<Element>(
    _ rows: any StorageResults, from offset: Int, into page: UnsafeMutableBufferPointer<Element>,
    _ decode: (borrowing Row) throws -> Element
  ) throws -> Int {
    var count = 0
    do {
      _ = try rows.read(from: offset, limit: page.count) { row in
        guard count < page.count else { throw surplus() }
        do {
          page.initializeElement(at: count, to: try decode(row))
        } catch let error as PersistenceError {
          throw located(error, row)
        }
        count += 1
      }
    } catch {
      page[..<count].deinitialize()
      throw located(error)
    }
    return count
  }

  /// One page of records.
  @inlinable
  func models<Model: PersistentRecord>(
    _ type: Model.Type, _ rows: any StorageResults, from offset: Int, limit: Int
  ) throws -> [Model] {
    try Array(unsafeUninitializedCapacity: limit) { page, count in
      count = try read(rows, from: offset, into: page) { try Model(from: $0) }
    }
  }

  /// One page of records, whose values of some fields are collected.
  @inlinable
  func models<Model: PersistentRecord>(
    _ type: Model.Type, _ rows: any StorageResults, from offset: Int, limit: Int, _ values: inout FieldValues
  ) throws -> [Model] {
    try Array(unsafeUninitializedCapacity: limit) { page, count in
      count = try read(rows, from: offset, into: page) { row in
        try values.add(row)
        return try Model(from: row)
      }
    }
  }
}
