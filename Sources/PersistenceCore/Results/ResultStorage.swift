import PersistenceDriver
import Synchronization

/// What the copies of one result share: its snapshot, its first page, and the pages read last.
@usableFromInline
final class ResultStorage<Element: Sendable>: Sendable {
  /// How many models a page holds.
  static var pageSize: Int { ElementPage<Element>.size }

  /// How many models the first page holds where each is read from a place of its own, and most may never be asked for.
  private static var shortPageSize: Int { 16 }

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
    _ rows: any StorageResults, request: FetchRequest, selecting selected: [Int]?, monitor: ContextMonitor,
    location: String, place: CallSite, decode: @escaping @Sendable (borrowing Row) throws -> Element
  ) throws {
    decoder = RowDecoder(
      schema: request.schema, selecting: selected, location: location, decode: decode)
    self.monitor = monitor
    let size = rows.usesRandomAccess ? Self.shortPageSize : Self.pageSize
    firstPage = try decoder.page(rows, from: 0, limit: size)
    guard firstPage.count == size, request.limit.map({ $0 > size }) ?? true else {
      self.rows = nil
      pin = nil
      return
    }
    self.rows = rows
    pin = monitor.pinned(request, place: place)
  }

  /// Reads all rows of a transaction's result at once, since nothing can be pinned there (contract R1a).
  init(
    reading rows: any StorageResults, request: FetchRequest, selecting selected: [Int]?,
    monitor: ContextMonitor, location: String, decode: @escaping @Sendable (borrowing Row) throws -> Element
  ) throws {
    decoder = RowDecoder(
      schema: request.schema, selecting: selected, location: location, decode: decode)
    self.monitor = monitor
    self.rows = nil
    pin = nil
    var chunks = ElementChunks<Element>(capacity: Self.pageSize)
    var goesOn = true
    while goesOn {
      let position = chunks.count
      goesOn = try chunks.append(atMost: Int.max) { [decoder] in
        try decoder.read(rows, from: position, into: $0)
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
    if let count = cache.withLock({ $0.count }) { return count }
    do {
      let count = try rows.count()
      cache.withLock { $0.count = count }
      return count
    } catch {
      throw decoder.located(error)
    }
  }

  /// How many models there are at some positions: all are counted only where they may end before the positions do.
  func count(in window: Range<Int>) throws -> Int {
    max(0, try end(before: window.upperBound) - window.lowerBound)
  }

  /// A position, or the result's end where that comes first.
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

  /// The elements at some positions; fewer where reading failed and the handler of such failures went on.
  @usableFromInline
  func all(in window: Range<Int>) -> ContiguousArray<Element> {
    let known = firstPage[min(window.lowerBound, firstPage.count)..<min(window.upperBound, firstPage.count)]
    guard let rows else { return ContiguousArray(known) }
    var chunks = ElementChunks<Element>(capacity: Self.pageSize)
    do {
      if !known.isEmpty { _ = chunks.append(atMost: known.count) { $0.initialize(fromContentsOf: known) } }
      var goesOn = true
      while goesOn {
        let position = window.lowerBound + chunks.count
        goesOn = try chunks.append(atMost: window.upperBound - position) {
          try decoder.read(rows, from: position, into: $0)
        }
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
    guard let rows else { return number == 0 ? firstPage : [] }
    if number == 0, firstPage.count == Self.pageSize { return firstPage }
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
