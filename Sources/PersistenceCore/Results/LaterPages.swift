import PersistenceDriver
import Synchronization

/// The pages of a result behind its first one, read from a pinned snapshot.
@usableFromInline
final class LaterPages<Element: Sendable>: Sendable {
  private let pin: ResultPin
  private let decoder: RowDecoder<Element>
  private let cache = Mutex(Cache())

  private struct Cache {
    var count: Int?
    /// The most recently read pages, newest first.
    var pages: [(number: Int, elements: ContiguousArray<Element>)] = []
  }

  @usableFromInline
  init(_ pin: ResultPin, _ decoder: RowDecoder<Element>) {
    self.pin = pin
    self.decoder = decoder
  }

  /// The number of elements in the whole result, if it is known.
  var knownCount: Int? { cache.withLock { $0.count } }

  /// The number of elements in the whole result.
  func count() throws -> Int {
    if let knownCount { return knownCount }
    do {
      let count = try pin.rows.count()
      cache.withLock { $0.count = count }
      return count
    } catch {
      throw decoder.origin.located(error)
    }
  }

  /// Decodes elements in place, up to the size of the memory.
  func read(from position: Int, into page: UnsafeMutableBufferPointer<Element>) throws -> Int {
    try decoder.read(pin.rows, position, page)
  }

  /// A page by its number, which indices read.
  func page(_ number: Int) throws -> ContiguousArray<Element> {
    let known = cache.withLock { cache -> ContiguousArray<Element>? in
      guard let index = cache.pages.firstIndex(where: { $0.number == number }) else { return nil }
      let page = cache.pages.remove(at: index)
      cache.pages.insert(page, at: 0)
      return page.elements
    }
    if let known { return known }
    let size = decoder.pageSize
    let elements = try decoder.page(pin.rows, from: number * size, limit: size)
    cache.withLock { cache in
      if cache.pages.count == 4 { cache.pages.removeLast() }
      cache.pages.insert((number, elements), at: 0)
    }
    return elements
  }

  /// All elements of rows at once.
  @usableFromInline
  static func all(of rows: any StorageResults, _ decoder: RowDecoder<Element>) throws
    -> ContiguousArray<Element>
  {
    var chunks = ElementChunks<Element>(capacity: decoder.pageSize)
    var hasMore = true
    while hasMore {
      let position = chunks.count
      hasMore = try chunks.append(atMost: Int.max) { try decoder.read(rows, position, $0) }
    }
    return chunks.take()
  }
}

/// The rows of a result beyond its first page, which pin a snapshot.
@usableFromInline
final class ResultPin: Sendable {
  let rows: any StorageResults
  private let monitor: ContextMonitor
  private let pin: UInt64

  init(_ rows: any StorageResults, _ request: FetchRequest, _ monitor: ContextMonitor, _ place: CallSite) {
    (self.rows, self.monitor) = (rows, monitor)
    pin = monitor.pinned(request, place: place)
  }

  deinit { monitor.released(pin) }
}
