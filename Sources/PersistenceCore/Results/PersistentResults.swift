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
/// ``Monitoring/readFailureHandler`` is called and the iteration ends. `forEach(_:)`, ``withCursor(_:)``, ``stream`` and
/// ``checkedArray()`` throw instead (contract R4).
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

  /// All models, and throws if reading fails; `Array(results)` cannot.
  ///
  /// - Returns: The models, in order.
  /// - Throws: ``PersistenceError`` with the record that could not be read.
  public func checkedArray() throws -> [Element] { Array(try storage.checked(in: window)) }
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

/// A cursor over a result's elements, which returns them one by one and reports when it needs the next page.
///
/// It copies the elements of the first page, which the result keeps, and moves those of later pages: copying a record
/// would retain each of its texts, and release them with the page. The cursor and its callers are inlinable, so that an
/// app's loop is specialized for its model. Generic code would look types up for every element; `make bench` measures the
/// loop.
@usableFromInline
struct PageCursor<Element: Sendable> {
  @usableFromInline let storage: ResultStorage<Element>
  /// The position of the next element, up to the end of the first page.
  @usableFromInline var next: Int
  /// The end of the cursor in the first page.
  @usableFromInline let known: Int
  @usableFromInline let end: Int
  /// The memory of later pages; nil before the first of them.
  @usableFromInline var laterPage: ElementPage<Element>?

  /// Creates a cursor over some positions of a result, up to the end of the result.
  @inlinable
  init(_ window: Range<Int>, of storage: ResultStorage<Element>) {
    self.storage = storage
    next = window.lowerBound
    end = window.upperBound
    known = Swift.min(storage.firstPage.count, end)
  }

  /// Whether a page must be read before the next element can be taken.
  @inlinable var needsPage: Bool {
    if next < known || storage.rest == nil { return false }
    guard let laterPage else { return next < end }
    return laterPage.state.pointee.needsPage
  }

  /// The memory for the next page.
  @usableFromInline
  mutating func page() -> ElementPage<Element> {
    if let laterPage { return laterPage }
    let page = ElementPage<Element>(next..<end, size: storage.pageSize)
    laterPage = page
    return page
  }

  /// Ends the iteration.
  @usableFromInline
  mutating func finish() { page().state.pointee.isDone = true }

  /// The next element; nil at the end, and if a page is needed.
  @inlinable
  mutating func take() -> Element? {
    if next < known {
      next &+= 1
      return storage.firstPage[next &- 1]
    }
    return laterPage?.take()
  }
}

/// Memory for one page of elements, reused for every page.
@usableFromInline
final class ElementPage<Element: Sendable>: @unchecked Sendable {  // owned by one cursor
  /// The cursor's state, changed through a pointer because each access to a class's variable checks
  /// exclusivity.
  @usableFromInline
  @frozen
  struct State {
    /// The first element still in the page.
    @usableFromInline var offset = 0
    /// The number of elements that filled the page.
    @usableFromInline var count = 0
    /// The position of the next page in the result.
    @usableFromInline var position: Int
    /// The end of the cursor, if the result has that many elements.
    @usableFromInline let end: Int
    /// Whether the cursor has reached its end.
    @usableFromInline var isDone = false

    @inlinable
    init(_ window: Range<Int>) {
      position = window.lowerBound
      end = window.upperBound
    }

    @inlinable var needsPage: Bool { offset == count && !isDone }
  }

  /// The maximum number of elements in this page.
  private let size: Int

  @usableFromInline let state: UnsafeMutablePointer<State>
  @usableFromInline let elements: UnsafeMutablePointer<Element>

  /// Creates an empty page for a cursor over some positions.
  @usableFromInline
  init(_ window: Range<Int>, size: Int) {
    self.size = Swift.min(size, window.count)
    state = .allocate(capacity: 1)
    state.initialize(to: State(window))
    elements = .allocate(capacity: self.size)
  }

  deinit {
    (elements + state.pointee.offset).deinitialize(count: state.pointee.count - state.pointee.offset)
    elements.deallocate()
    state.deallocate()
  }

  /// The next element in the page.
  @inlinable
  func take() -> Element? {
    guard state.pointee.offset < state.pointee.count else { return nil }
    let offset = state.pointee.offset
    state.pointee.offset = offset + 1
    return (elements + offset).move()
  }

  /// Fills the empty page with the elements that a closure initializes; if it throws, it leaves none.
  ///
  /// If the page stays empty, the cursor has reached its end.
  func refill(_ fill: (UnsafeMutableBufferPointer<Element>) throws -> Int) rethrows {
    let wanted = Swift.min(size, state.pointee.end - state.pointee.position)
    let count = wanted > 0 ? try fill(UnsafeMutableBufferPointer(start: elements, count: wanted)) : 0
    state.pointee.offset = 0
    state.pointee.count = count
    state.pointee.position += count
    state.pointee.isDone = count == 0
  }
}
