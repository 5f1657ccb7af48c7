/// A walk over a result's pages: hands models out one by one and knows when it needs the next page.
struct PageWalk<Element: Sendable> {
  private var page: [Element] = []
  private var offset = 0

  /// Where the next page begins.
  private(set) var position = 0

  /// Whether the end has been reached.
  private(set) var isDone = false

  /// Whether a page must be read before the next model can be taken.
  var needsPage: Bool { offset == page.count && !isDone }

  /// Goes on with a page; an empty one is the end.
  mutating func accept(_ page: [Element]) {
    self.page = page
    offset = 0
    position += page.count
    isDone = page.isEmpty
  }

  /// Goes no further.
  mutating func end() { isDone = true }

  /// The next model; nil at the end.
  mutating func take() -> Element? {
    guard offset < page.count else { return nil }
    defer { offset += 1 }
    return page[offset]
  }
}
