/// A cursor over a result's pages, which returns elements one by one and reports when it needs the next page.
///
/// It moves elements out of the page: copying a record would retain each of its texts, and release them with
/// the page. The cursor and its callers are inlinable, so that an app's loop is specialized for its model.
/// Generic code would look types up for every element; `make bench` measures the loop.
///
/// Copies of a cursor share its position.
@usableFromInline
@frozen
struct PageCursor<Element: Sendable> {
  @usableFromInline let page: ElementPage<Element>

  /// Creates a cursor over some positions of a result, up to the end of the result.
  @inlinable
  init(_ window: Range<Int>, of storage: ResultStorage<Element>) {
    page = ElementPage(window, size: storage.pageSize)
  }

  /// Whether a page must be read before the next element can be taken.
  @inlinable var needsPage: Bool { page.state.pointee.needsPage }

  /// The position of the next page.
  @inlinable var position: Int { page.state.pointee.position }

  /// Ends the iteration.
  @inlinable
  func end() { page.state.pointee.isDone = true }

  /// The next element; nil at the end, and if a page is needed.
  @inlinable
  func take() -> Element? {
    guard page.state.pointee.offset < page.state.pointee.count else { return nil }
    let offset = page.state.pointee.offset
    page.state.pointee.offset = offset + 1
    return (page.elements + offset).move()
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

  /// The number of elements in a page of plain results.
  static var size: Int { 128 }

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
