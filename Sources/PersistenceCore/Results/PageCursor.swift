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
