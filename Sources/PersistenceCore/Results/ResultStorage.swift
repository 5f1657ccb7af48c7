import PersistenceDriver
import Synchronization

/// What the copies of one result share: its snapshot, its first page, and the pages read last.
@usableFromInline
final class ResultStorage<Element: Sendable>: Sendable {
  /// How many models a page holds.
  static var pageSize: Int { 128 }

  /// The rows beyond the first page; nil where the first page is all there is, and nothing is pinned.
  private let rows: (any StorageResults)?
  private let firstPage: [Element]
  private let schema: ModelSchema
  private let decode: @Sendable (borrowing Row) throws -> Element
  private let monitor: ContextMonitor
  private let location: String
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
    schema = request.schema
    self.decode = decode
    self.monitor = monitor
    self.location = location
    firstPage = try Self.read(rows, from: 0, limit: Self.pageSize, schema: schema, location: location, decode)
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
    schema = request.schema
    self.decode = decode
    self.monitor = monitor
    self.location = location
    self.rows = nil
    pin = nil
    firstPage = try Self.read(rows, from: 0, limit: Int.max, schema: schema, location: location, decode)
  }

  deinit {
    if let pin { monitor.released(pin) }
  }

  /// How many models there are.
  func count() throws -> Int {
    guard let rows else { return firstPage.count }
    if let count = cache.withLock(\.count) { return count }
    let count = try located { try rows.count() }
    cache.withLock { $0.count = count }
    return count
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

  /// A run of models for one iteration, which leaves the shared pages alone; empty beyond the end.
  @usableFromInline
  func models(from position: Int) throws -> [Element] {
    if position == 0 { return firstPage }
    guard let rows else { return Array(firstPage.dropFirst(position)) }
    return try Self.read(
      rows, from: position, limit: Self.pageSize, schema: schema, location: location, decode)
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
    let models = try Self.read(
      rows, from: number * Self.pageSize, limit: Self.pageSize, schema: schema, location: location, decode)
    cache.withLock { cache in
      if cache.pages.count == 4 { cache.pages.removeLast() }
      cache.pages.insert((number, models), at: 0)
    }
    return models
  }

  private func located<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as PersistenceError {
      throw error.at(model: schema.name, location: location)
    }
  }

  private static func read(
    _ rows: any StorageResults, from offset: Int, limit: Int, schema: ModelSchema, location: String,
    _ decode: (borrowing Row) throws -> Element
  ) throws -> [Element] {
    guard limit == Int.max else {
      // Decoded into its place: an append that is not compiled for the model costs more than decoding it.
      return try Array(unsafeUninitializedCapacity: limit) { page, count in
        try read(rows, from: offset, limit: limit, schema: schema, location: location) { row in
          guard count < limit else {
            throw PersistenceError(.engineFailure, "the context gave more rows than were asked for")
          }
          page.initializeElement(at: count, to: try decode(row))
          count += 1
        }
      }
    }
    var models: [Element] = []
    try read(rows, from: offset, limit: limit, schema: schema, location: location) { row in
      models.append(try decode(row))
    }
    return models
  }

  private static func read(
    _ rows: any StorageResults, from offset: Int, limit: Int, schema: ModelSchema, location: String,
    _ take: (borrowing Row) throws -> Void
  ) throws {
    do {
      _ = try rows.read(from: offset, limit: limit) { row in
        do {
          try take(row)
        } catch let error as PersistenceError {
          throw error.at(model: schema.name, key: try? RecordKey(of: row, in: schema), location: location)
        }
      }
    } catch let error as PersistenceError {
      throw error.at(model: schema.name, location: location)
    }
  }
}
