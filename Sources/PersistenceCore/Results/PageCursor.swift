/// A walk over a result's pages: hands elements out one by one and knows when it needs the next page.
///
/// Elements are moved out of the page, not copied: to copy a record costs a retain for each of its texts, and a
/// release when the page goes. It is inlinable, as are the walks that use it, so that an app's loop is compiled for
/// its model: `make bench` has the walk among its workloads, and generic code looks types up for every element.
///
/// Copies of a walk share its place.
@usableFromInline
@frozen
struct PageCursor<Element: Sendable> {
  @usableFromInline let page: ElementPage<Element>

  /// Begins a walk over some positions of a result, as far as it has elements there.
  @inlinable
  init(_ window: Range<Int>) { page = ElementPage(window) }

  /// Whether a page must be read before the next element can be taken.
  @inlinable var needsPage: Bool { page.state.pointee.needsPage }

  /// Where the next page begins.
  @inlinable var position: Int { page.state.pointee.position }

  /// Goes no further.
  @inlinable
  func end() { page.state.pointee.isDone = true }

  /// The next element; nil at the end, and where a page is needed.
  @inlinable
  func take() -> Element? {
    guard page.state.pointee.offset < page.state.pointee.count else { return nil }
    let offset = page.state.pointee.offset
    page.state.pointee.offset = offset + 1
    return (page.elements + offset).move()
  }
}

/// Room for one page of elements, which are moved in and out of it: used again for page after page.
@usableFromInline
final class ElementPage<Element: Sendable>: @unchecked Sendable {  // a walk's own
  /// What a walk knows: changed through a pointer, since every access to a class's variable is guarded.
  @usableFromInline
  @frozen
  struct State {
    /// The first element that is still in the page.
    @usableFromInline var offset = 0
    /// How many elements the page was filled with.
    @usableFromInline var count = 0
    /// Where in the result the next page begins.
    @usableFromInline var position: Int
    /// Where the walk ends, if the result has as many elements.
    @usableFromInline let end: Int
    /// Whether the end has been reached.
    @usableFromInline var isDone = false

    @inlinable
    init(_ window: Range<Int>) {
      position = window.lowerBound
      end = window.upperBound
    }

    @inlinable var needsPage: Bool { offset == count && !isDone }
  }

  /// How many elements a page has at most.
  static var size: Int { 128 }

  @usableFromInline let state: UnsafeMutablePointer<State>
  @usableFromInline let elements: UnsafeMutablePointer<Element>

  /// Creates an empty page for a walk over some positions.
  @usableFromInline
  init(_ window: Range<Int>) {
    state = .allocate(capacity: 1)
    state.initialize(to: State(window))
    elements = .allocate(capacity: Self.size)
  }

  deinit {
    (elements + state.pointee.offset).deinitialize(count: state.pointee.count - state.pointee.offset)
    elements.deallocate()
    state.deallocate()
  }

  /// Has the empty page filled, and goes on with it; an empty one is the end.
  ///
  /// - Parameter fill: Initialises elements from the beginning on, and says how many; what it has initialised before
  ///   it throws, it has deinitialised again.
  func refill(_ fill: (UnsafeMutableBufferPointer<Element>) throws -> Int) rethrows {
    let wanted = Swift.min(Self.size, state.pointee.end - state.pointee.position)
    let count = wanted > 0 ? try fill(UnsafeMutableBufferPointer(start: elements, count: wanted)) : 0
    state.pointee.offset = 0
    state.pointee.count = count
    state.pointee.position += count
    state.pointee.isDone = count == 0
  }
}
