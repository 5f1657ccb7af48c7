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
