package import PersistenceDriver

/// The shared state of a result's copies: its first page, and the pages behind it.
@usableFromInline
final class ResultStorage<Element: Sendable>: Sendable {
  @usableFromInline let firstPage: ContiguousArray<Element>

  /// The pages behind the first one; nil if there are none, and nothing is pinned.
  @usableFromInline let rest: LaterPages<Element>?

  @usableFromInline let monitor: ContextMonitor

  /// The number of elements in a page.
  @usableFromInline let pageSize: Int

  /// Reads the first page of rows, and keeps a pin on further ones; in a transaction, where nothing can be pinned, it reads
  /// all rows (contract R1a).
  @inlinable
  init(_ fetched: FetchedRows, _ decoder: RowDecoder<Element>) throws {
    (monitor, pageSize) = (fetched.monitor, decoder.pageSize)
    guard fetched.isPinned else {
      firstPage = try LaterPages.all(of: fetched.rows, decoder)
      rest = nil
      return
    }
    let size = fetched.firstPageSize(decoder.pageSize)
    firstPage = try decoder.page(fetched.rows, from: 0, limit: min(size, fetched.limit))
    rest =
      firstPage.count == size && fetched.limit > size
      ? LaterPages(try fetched.pinned(), decoder) : nil
  }

  /// Takes the only page, behind which nothing is pinned.
  @usableFromInline
  init(_ page: ContiguousArray<Element>, _ monitor: ContextMonitor) {
    (firstPage, rest, self.monitor, pageSize) = (page, nil, monitor, FetchedRows.pageSize)
  }

  /// The number of models.
  func count() throws -> Int { try rest?.count() ?? firstPage.count }

  /// The number of models at some positions.
  ///
  /// It counts all models only if they may end before the positions.
  func count(in window: Range<Int>) throws -> Int {
    max(0, try end(before: window.upperBound) - window.lowerBound)
  }

  /// A position, or the end of the result if that comes first.
  func end(before position: Int) throws -> Int {
    if position <= firstPage.count { return position }
    guard let rest else { return firstPage.count }
    if position < Int.max, rest.knownCount == nil, try hasModel(at: position - 1) { return position }
    return min(position, try count())
  }

  /// Whether there is a model at a position.
  func hasModel(at position: Int) throws -> Bool {
    if position < firstPage.count { return true }
    guard let rest else { return false }
    if let count = rest.knownCount { return position < count }
    return try page(position / pageSize, rest).count > position % pageSize
  }

  /// The model at a position; nil beyond the end.
  func model(at position: Int) throws -> Element? {
    if position < firstPage.count { return firstPage[position] }
    guard let rest else { return nil }
    return try page(position / pageSize, rest).dropFirst(position % pageSize).first
  }

  private func page(_ number: Int, _ rest: LaterPages<Element>) throws -> ContiguousArray<Element> {
    number == 0 && firstPage.count == pageSize ? firstPage : try rest.page(number)
  }

  /// Fills a cursor's page with its next elements behind the first page, and leaves the shared pages unchanged.
  @usableFromInline
  func fill(_ page: ElementPage<Element>) throws {
    let position = page.state.pointee.position
    try page.refill { target in try rest?.read(from: position, into: target) ?? 0 }
  }

  /// The elements at some positions; fewer if reading failed and the failure handler returned.
  @inlinable
  func all(in window: Range<Int>) -> ContiguousArray<Element> {
    if rest == nil, window.lowerBound == 0, window.upperBound >= firstPage.count { return firstPage }
    return some(in: window)
  }

  /// The same for parts, and for what is behind the first page.
  @usableFromInline
  func some(in window: Range<Int>) -> ContiguousArray<Element> {
    guard let rest else { return ContiguousArray(known(in: window)) }
    var chunks = ElementChunks<Element>(capacity: pageSize)
    do { try fill(&chunks, with: window, rest) } catch { fail(error) }
    return chunks.take()
  }

  /// The same; throws if reading failed.
  func checked(in window: Range<Int>) throws -> ContiguousArray<Element> {
    guard let rest else { return ContiguousArray(known(in: window)) }
    var chunks = ElementChunks<Element>(capacity: pageSize)
    try fill(&chunks, with: window, rest)
    return chunks.take()
  }

  /// The elements of the first page at some positions.
  private func known(in window: Range<Int>) -> ContiguousArray<Element>.SubSequence {
    firstPage[min(window.lowerBound, firstPage.count)..<min(window.upperBound, firstPage.count)]
  }

  private func fill(
    _ chunks: inout ElementChunks<Element>, with window: Range<Int>, _ rest: LaterPages<Element>
  ) throws {
    let known = known(in: window)
    if !known.isEmpty { _ = chunks.append(atMost: known.count) { $0.initialize(fromContentsOf: known) } }
    var hasMore = true
    while hasMore {
      let position = window.lowerBound + chunks.count
      hasMore = try chunks.append(atMost: window.upperBound - position) {
        try rest.read(from: position, into: $0)
      }
    }
  }

  /// Reports a read failure where nothing can be thrown (contract R4): calls the handler, or stops the
  /// program.
  @usableFromInline
  func fail(_ error: any Error) {
    let failure = error as? PersistenceError ?? PersistenceError(.engineFailure, "\(error)")
    guard let handler = monitor.settings.readFailureHandler else {
      // Contract R4: to continue would present a part of the result as all of it.
      fatalError("reading a result failed: \(failure)")  // deliberate: R4 stops a plain for here
    }
    handler(failure)
  }
}

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
