import PersistenceDriverSupport
import Testing

@Suite("KeysetBookmarks")
struct KeysetBookmarksTests {
  @Test("the nearest position is the last one at or before a row, in any order of remembering")
  func nearest() {
    let interval = KeysetBookmarks<Int>.interval
    var bookmarks = KeysetBookmarks<Int>()
    #expect(bookmarks.nearest(notAfter: 0) == nil)
    for number in [1, 2, 5, 3, 9, 4] {
      bookmarks.remember(number, at: number * interval)
      bookmarks.remember(-number, at: number * interval)
      bookmarks.remember(0, at: number * interval + 1)
    }
    for row in 0..<(11 * interval) {
      let known = [1, 2, 3, 4, 5, 9].last { $0 * interval <= row }
      let found = bookmarks.nearest(notAfter: row)
      #expect(found?.position == known)
      #expect(found?.row == known.map { $0 * interval })
    }
  }

  @Test("the ends of the last pages are remembered, and replace the oldest")
  func pageEnds() {
    var bookmarks = KeysetBookmarks<Int>()
    for row in stride(from: 10, through: 100, by: 10) { bookmarks.rememberPageEnd(row, at: row) }
    #expect(bookmarks.nearest(notAfter: 29) == nil)
    #expect(bookmarks.nearest(notAfter: 39)?.position == 30)
    #expect(bookmarks.nearest(notAfter: 1_000)?.position == 100)
    bookmarks.rememberPageEnd(7, at: 100)
    #expect(bookmarks.nearest(notAfter: 100)?.position == 7)
    #expect(bookmarks.nearest(notAfter: 39)?.position == 30)
  }
}
