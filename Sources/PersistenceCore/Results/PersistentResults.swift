import PersistenceDriver

/// The models of a fetch, or selected properties, read in pages from a pinned snapshot: a lazy, Sendable collection.
///
/// A result shows the store at the time of the fetch, and several threads may read it concurrently. A result with only
/// one page pins no snapshot.
///
/// Iterating costs the same for every element. `count` scans keys at most once and decodes nothing. A jump to a far
/// position may scan the keys up to it, once. Creating a slice, as `prefix(_:)` and `dropFirst(_:)` do, reads nothing,
/// and a slice never reads beyond its end. Copies, slices and `AnyCollection` wrappers share the snapshot and pages.
///
/// A plain `for` cannot throw. If a page cannot be read, the program stops with the error's message, or the context's
/// ``Monitoring/readFailureHandler`` is called and the iteration ends. `forEach(_:)`, ``withCursor(_:)`` and ``stream``
/// throw instead (contract R4).
public struct PersistentResults<Element: Sendable>: Sendable {
  @usableFromInline let storage: ResultStorage<Element>

  /// The positions of this slice; it may extend beyond the end of the result.
  @usableFromInline var window = 0..<Int.max

  @inlinable
  init(storage: ResultStorage<Element>) { self.storage = storage }

  /// The number of models in a page; pages with included records may be larger.
  public static var pageSize: Int { FetchedRows.pageSize }
}

extension PersistentResults: Sequence {
  /// Iterates over the result, page by page.
  public struct Iterator: IteratorProtocol {
    @usableFromInline var pageCursor: PageCursor<Element>

    @inlinable
    init(_ storage: ResultStorage<Element>, _ window: Range<Int>) {
      pageCursor = PageCursor(window, of: storage)
    }

    /// The next model; nil at the end.
    @inlinable
    public mutating func next() -> Element? {
      if pageCursor.needsPage {
        do {
          try pageCursor.storage.fill(pageCursor.page())
        } catch {
          pageCursor.finish()
          pageCursor.storage.fail(error)
        }
      }
      return pageCursor.take()
    }
  }

  /// Creates an iterator with its own pages.
  @inlinable
  public func makeIterator() -> Iterator { Iterator(storage, window) }
}

extension PersistentResults {
  /// Calls a closure with each model, in order, and throws if reading fails.
  ///
  /// - Parameter body: Called with each model.
  /// - Throws: ``PersistenceError`` with the record that could not be read, and the closure's error.
  @inlinable
  public func forEach(_ body: (Element) throws -> Void) throws {
    try withCursor { cursor in
      while let model = try cursor.next() { try body(model) }
    }
  }

  /// Calls a closure with a cursor, which throws if reading fails.
  ///
  /// - Parameter body: Receives the cursor, at the first model.
  /// - Returns: The result of the closure.
  /// - Throws: The closure's error.
  @inlinable
  public func withCursor<Result>(_ body: (inout ResultCursor<Element>) throws -> Result) throws -> Result {
    var cursor = ResultCursor(storage, window)
    return try body(&cursor)
  }

  /// Counts the models, and throws if counting fails.
  ///
  /// - Returns: The number of models.
  /// - Throws: ``PersistenceError``.
  public func checkedCount() throws -> Int { try storage.count(in: window) }
}

/// A cursor over a result, which throws if reading fails.
public struct ResultCursor<Element: Sendable>: ~Copyable {
  @usableFromInline var pageCursor: PageCursor<Element>

  @inlinable
  init(_ storage: ResultStorage<Element>, _ window: Range<Int>) {
    pageCursor = PageCursor(window, of: storage)
  }

  /// The next model; nil at the end.
  ///
  /// - Throws: ``PersistenceError`` with the record that could not be read. The next call retries.
  @inlinable
  public mutating func next() throws -> Element? {
    if pageCursor.needsPage { try pageCursor.storage.fill(pageCursor.page()) }
    return pageCursor.take()
  }
}

// Iterating by pages is several times faster than the standard library's defaults, which use indices and the count.
// It also works with a third-party context whose count is wrong, which would stop the defaults.

extension PersistentResults {
  /// The results of a closure for each element, in order.
  ///
  /// - Parameter transform: Receives each element.
  /// - Returns: The results of the closure.
  /// - Throws: The closure's error.
  @inlinable
  public func map<Transformed, Failure: Error>(
    _ transform: (Element) throws(Failure) -> Transformed
  ) throws(Failure) -> [Transformed] {
    var transformed: [Transformed] = []
    var iterator = makeIterator()
    while let element = iterator.next() { transformed.append(try transform(element)) }
    return transformed
  }

  /// All elements; the standard library calls it to create an array.
  @inlinable
  public func _copyToContiguousArray() -> ContiguousArray<Element> { storage.all(in: window) }
}
