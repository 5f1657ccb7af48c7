import PersistenceDriver
import Synchronization

/// What the copies of one result share: its snapshot, its first page, and the pages read last.
@usableFromInline
final class ResultStorage<Element: Sendable>: Sendable {
  /// How many models a page holds.
  static var pageSize: Int { ElementPage<Element>.size }

  /// The rows beyond the first page; nil where the first page is all there is, and nothing is pinned.
  private let rows: (any StorageResults)?
  private let firstPage: [Element]
  private let decoder: RowDecoder<Element>
  private let monitor: ContextMonitor
  private let pin: UInt64?
  private let cache = Mutex(Cache())

  private struct Cache {
    var count: Int?
    /// The pages read last, newest first.
    var pages: [(number: Int, models: [Element])] = []
  }

  /// Keeps rows of a pinned snapshot, whose first page is read at once.
  init(
    _ rows: any StorageResults, request: FetchRequest, monitor: ContextMonitor, location: String,
    place: SourcePlace, decode: @escaping @Sendable (borrowing Row) throws -> Element
  ) throws {
    decoder = RowDecoder(schema: request.schema, location: location, decode: decode)
    self.monitor = monitor
    firstPage = try decoder.page(rows, from: 0, limit: Self.pageSize)
    guard firstPage.count == Self.pageSize, request.limit.map({ $0 > Self.pageSize }) ?? true else {
      self.rows = nil
      pin = nil
      return
    }
    self.rows = rows
    pin = monitor.pinned(request, place: place)
  }

  /// Reads all rows of a transaction's result at once, since nothing can be pinned there (contract R1a).
  init(
    reading rows: any StorageResults, request: FetchRequest, monitor: ContextMonitor, location: String,
    decode: @escaping @Sendable (borrowing Row) throws -> Element
  ) throws {
    decoder = RowDecoder(schema: request.schema, location: location, decode: decode)
    self.monitor = monitor
    self.rows = nil
    pin = nil
    var chunks = ElementChunks<Element>(capacity: Self.pageSize)
    var goesOn = true
    while goesOn {
      goesOn = try chunks.append { [count = chunks.count, decoder] in
        try decoder.read(rows, from: count, into: $0)
      }
    }
    firstPage = Array(chunks.take())
  }

  deinit {
    if let pin { monitor.released(pin) }
  }

  /// How many models there are.
  func count() throws -> Int {
    guard let rows else { return firstPage.count }
    if let count = cache.withLock(\.count) { return count }
    do {
      let count = try rows.count()
      cache.withLock { $0.count = count }
      return count
    } catch {
      throw decoder.located(error)
    }
  }

  /// Whether there is a model at a position.
  func hasModel(at position: Int) throws -> Bool {
    if position < firstPage.count { return true }
    guard rows != nil else { return false }
    if let count = cache.withLock(\.count) { return position < count }
    return try page(position / Self.pageSize).count > position % Self.pageSize
  }

  /// The model at a position; nil beyond the end.
  func model(at position: Int) throws -> Element? {
    if position < firstPage.count { return firstPage[position] }
    guard rows != nil else { return nil }
    let page = try page(position / Self.pageSize)
    let offset = position % Self.pageSize
    return offset < page.count ? page[offset] : nil
  }

  /// Fills the page of one walk with what comes next, which leaves the shared pages alone.
  @usableFromInline
  func fill(_ page: ElementPage<Element>) throws {
    let position = page.state.pointee.position
    try page.refill { target in
      if position < firstPage.count {
        let known = firstPage[position...].prefix(target.count)
        return target.initialize(fromContentsOf: known)
      }
      guard let rows else { return 0 }
      return try decoder.read(rows, from: position, into: target)
    }
  }

  /// All elements; fewer where reading failed and the handler of such failures went on.
  @usableFromInline
  func all() -> ContiguousArray<Element> {
    guard let rows else { return ContiguousArray(firstPage) }
    var chunks = ElementChunks<Element>(capacity: Self.pageSize)
    do {
      var goesOn = chunks.append { $0.initialize(fromContentsOf: firstPage) }
      while goesOn {
        goesOn = try chunks.append { [count = chunks.count] in try decoder.read(rows, from: count, into: $0) }
      }
    } catch {
      fail(error)
    }
    return chunks.take()
  }

  /// Reports a failure met where nothing can be thrown (contract R4): to the handler, or by stopping.
  @usableFromInline
  func fail(_ error: any Error) {
    let failure = error as? PersistenceError ?? PersistenceError(.engineFailure, "\(error)")
    guard let handler = monitor.settings.readFailureHandler else {
      // R4 asks for this: going on would show less than there is, as if it were all.
      fatalError("reading a result failed: \(failure)")  // deliberate: R4 stops a plain for here
    }
    handler(failure)
  }

  private func page(_ number: Int) throws -> [Element] {
    if number == 0 { return firstPage }
    guard let rows else { return [] }
    let known = cache.withLock { cache -> [Element]? in
      guard let index = cache.pages.firstIndex(where: { $0.number == number }) else { return nil }
      let page = cache.pages.remove(at: index)
      cache.pages.insert(page, at: 0)
      return page.models
    }
    if let known { return known }
    let models = try decoder.page(rows, from: number * Self.pageSize, limit: Self.pageSize)
    cache.withLock { cache in
      if cache.pages.count == 4 { cache.pages.removeLast() }
      cache.pages.insert((number, models), at: 0)
    }
    return models
  }
}
