import PersistenceDriver
import Synchronization

/// The shared state of a result's copies: its snapshot, its first page and the most recently read pages.
@usableFromInline
final class ResultStorage<Element: Sendable>: Sendable {
  /// The number of elements in a page.
  @usableFromInline var pageSize: Int { decoder.pageSize }

  /// The number of models in the first page of random-access results, most of which may never be requested.
  private static var shortPageSize: Int { 16 }

  /// The rows beyond the first page; nil if there are none, and nothing is pinned.
  private let rows: (any StorageResults)?
  private let firstPage: [Element]
  private let decoder: RowDecoder<Element>
  private let monitor: ContextMonitor
  private let pin: UInt64?
  private let cache = Mutex(Cache())

  private struct Cache {
    var count: Int?
    /// The most recently read pages, newest first.
    var pages: [(number: Int, models: [Element])] = []
  }

  /// Keeps the rows of a pinned snapshot, and reads the first page.
  init(
    _ rows: any StorageResults, of request: FetchRequest, _ decoder: RowDecoder<Element>,
    _ monitor: ContextMonitor, place: CallSite
  ) throws {
    self.decoder = decoder
    self.monitor = monitor
    // A larger page than plain results have is read at once only if it is asked for.
    let size =
      rows.usesRandomAccess
      ? Self.shortPageSize : min(max(request.limit ?? 0, ElementPage<Element>.size), decoder.pageSize)
    firstPage = try decoder.page(rows, from: 0, limit: size)
    guard firstPage.count == size, request.limit.map({ $0 > size }) ?? true else {
      self.rows = nil
      pin = nil
      return
    }
    try (rows as? any CheckedResults)?.checkUnread()
    self.rows = rows
    pin = monitor.pinned(request, place: place)
  }

  /// Reads all rows of a result in a transaction, where nothing can be pinned (contract R1a).
  init(
    reading rows: any StorageResults, _ decoder: RowDecoder<Element>, _ monitor: ContextMonitor
  ) throws {
    self.decoder = decoder
    self.monitor = monitor
    self.rows = nil
    pin = nil
    var chunks = ElementChunks<Element>(capacity: decoder.pageSize)
    var hasMore = true
    while hasMore {
      let position = chunks.count
      hasMore = try chunks.append(atMost: Int.max) { try decoder.read(rows, from: position, into: $0) }
    }
    firstPage = Array(chunks.take())
  }

  deinit {
    if let pin { monitor.released(pin) }
  }

  /// The number of models.
  func count() throws -> Int {
    guard let rows else { return firstPage.count }
    if let count = cache.withLock({ $0.count }) { return count }
    do {
      let count = try rows.count()
      cache.withLock { $0.count = count }
      return count
    } catch {
      throw decoder.located(error)
    }
  }

  /// The number of models at some positions.
  ///
  /// It counts all models only if they may end before the positions.
  func count(in window: Range<Int>) throws -> Int {
    max(0, try end(before: window.upperBound) - window.lowerBound)
  }

  /// A position, or the end of the result if that comes first.
  func end(before position: Int) throws -> Int {
    if position <= firstPage.count { return position }
    guard rows != nil else { return firstPage.count }
    if position < Int.max, cache.withLock({ $0.count == nil }), try hasModel(at: position - 1) {
      return position
    }
    return min(position, try count())
  }

  /// Whether there is a model at a position.
  func hasModel(at position: Int) throws -> Bool {
    if position < firstPage.count { return true }
    guard rows != nil else { return false }
    if let count = cache.withLock({ $0.count }) { return position < count }
    return try page(position / pageSize).count > position % pageSize
  }

  /// The model at a position; nil beyond the end.
  func model(at position: Int) throws -> Element? {
    if position < firstPage.count { return firstPage[position] }
    guard rows != nil else { return nil }
    return try page(position / pageSize).dropFirst(position % pageSize).first
  }

  /// Fills a cursor's page with its next elements, and leaves the shared pages unchanged.
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

  /// The elements at some positions; fewer if reading failed and the failure handler returned.
  @usableFromInline
  func all(in window: Range<Int>) -> ContiguousArray<Element> {
    let known = firstPage[min(window.lowerBound, firstPage.count)..<min(window.upperBound, firstPage.count)]
    guard let rows else { return ContiguousArray(known) }
    var chunks = ElementChunks<Element>(capacity: pageSize)
    do {
      if !known.isEmpty { _ = chunks.append(atMost: known.count) { $0.initialize(fromContentsOf: known) } }
      var hasMore = true
      while hasMore {
        let position = window.lowerBound + chunks.count
        hasMore = try chunks.append(atMost: window.upperBound - position) {
          try decoder.read(rows, from: position, into: $0)
        }
      }
    } catch {
      fail(error)
    }
    return chunks.take()
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

  private func page(_ number: Int) throws -> [Element] {
    guard let rows else { return number == 0 ? firstPage : [] }
    if number == 0, firstPage.count == pageSize { return firstPage }
    let known = cache.withLock { cache -> [Element]? in
      guard let index = cache.pages.firstIndex(where: { $0.number == number }) else { return nil }
      let page = cache.pages.remove(at: index)
      cache.pages.insert(page, at: 0)
      return page.models
    }
    if let known { return known }
    let models = try decoder.page(rows, from: number * pageSize, limit: pageSize)
    cache.withLock { cache in
      if cache.pages.count == 4 { cache.pages.removeLast() }
      cache.pages.insert((number, models), at: 0)
    }
    return models
  }
}
