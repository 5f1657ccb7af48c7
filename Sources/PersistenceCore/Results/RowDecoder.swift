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
