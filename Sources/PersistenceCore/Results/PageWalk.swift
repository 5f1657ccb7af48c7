/// A walk over a result's pages: hands models out one by one and knows when it needs the next page.
///
/// It is inlinable, as are the walks that use it, so that an app's loop is compiled for its model: `make bench`
/// has the walk among its workloads, and generic code looks types up for every element.
@usableFromInline
@frozen
struct PageWalk<Element: Sendable> {
  @usableFromInline var page: [Element] = []
  @usableFromInline var offset = 0

  /// Where the next page begins.
  @usableFromInline var position = 0

  /// Whether the end has been reached.
  @usableFromInline var isDone = false

  @inlinable
  init() {}

  /// Whether a page must be read before the next model can be taken.
  @inlinable var needsPage: Bool { offset == page.count && !isDone }

  /// Goes on with a page; an empty one is the end.
  @inlinable
  mutating func accept(_ page: [Element]) {
    self.page = page
    offset = 0
    position += page.count
    isDone = page.isEmpty
  }

  /// Goes no further.
  @inlinable
  mutating func end() { isDone = true }

  /// The next model; nil at the end.
  @inlinable
  mutating func take() -> Element? {
    guard offset < page.count else { return nil }
    defer { offset += 1 }
    return page[offset]
  }
}
