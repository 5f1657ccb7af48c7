/// Remembered positions of a result whose order comes from an index or a key, so that a jump is a seek.
///
/// A B-tree does not number its rows. A reader therefore remembers its position every ``interval`` rows, and at
/// the end of the last few pages. To reach a row, it seeks to the nearest position and skips the rows in between.
///
/// Complexity: with *n* remembered positions, ``nearest(notAfter:)`` is O(log *n*). ``remember(_:at:)`` is O(1) for a
/// row after the others, O(*n*) for one between them. Memory grows by one position for each ``interval`` rows read.
@usableFromInline
@frozen
package struct KeysetBookmarks<Position> {
  /// The number of rows between two remembered positions.
  @inlinable package static var interval: Int { 256 }

  /// The number of remembered page ends; several threads may page through one result.
  @inlinable static var pageEndLimit: Int { 8 }

  @usableFromInline
  @frozen
  struct Bookmark {
    @usableFromInline var row: Int
    @usableFromInline var position: Position
    @inlinable init(row: Int, position: Position) { (self.row, self.position) = (row, position) }
  }

  /// The positions at multiples of ``interval``, in ascending order of rows.
  @usableFromInline var regular: [Bookmark]
  @usableFromInline var pageEnds: [Bookmark]
  @usableFromInline var oldestPageEnd: Int

  // Initial values beside the properties would not be inlined, and calls of them need the metadata of `Position`.
  @inlinable
  package init() {
    regular = []
    pageEnds = []
    oldestPageEnd = 0
  }

  /// Remembers the position from which reading continues with a row; does nothing unless the row's number is a
  /// multiple of ``interval`` whose position is unknown.
  @inlinable
  package mutating func remember(_ position: @autoclosure () throws -> Position, at row: Int) rethrows {
    guard row % Self.interval == 0 else { return }
    guard let last = regular.last, row <= last.row else {
      regular.append(Bookmark(row: row, position: try position()))
      return
    }
    let index = index(after: row)
    guard index == 0 || regular[index - 1].row < row else { return }
    regular.insert(Bookmark(row: row, position: try position()), at: index)
  }

  /// Remembers the position at which a page ended, in place of the oldest such position.
  @inlinable
  package mutating func rememberPageEnd(_ position: Position, at row: Int) {
    let bookmark = Bookmark(row: row, position: position)
    if let known = pageEnds.firstIndex(where: { $0.row == row }) {
      pageEnds[known] = bookmark
    } else if pageEnds.count < Self.pageEndLimit {
      pageEnds.append(bookmark)
    } else {
      pageEnds[oldestPageEnd] = bookmark
      oldestPageEnd = (oldestPageEnd + 1) % Self.pageEndLimit
    }
  }

  /// The last remembered position at or before a row, with the row that reading continues with; nil if the
  /// reader must start at the beginning.
  @inlinable
  package func nearest(notAfter row: Int) -> (row: Int, position: Position)? {
    let index = index(after: row)
    var nearest = index == 0 ? nil : regular[index - 1]
    for end in pageEnds where end.row <= row && end.row > nearest?.row ?? -1 { nearest = end }
    return nearest.map { ($0.row, $0.position) }
  }

  /// The number of regular positions at or before a row.
  @inlinable
  func index(after row: Int) -> Int {
    var (low, high) = (0, regular.count)
    while low < high {
      let middle = (low + high) / 2
      if regular[middle].row <= row { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension KeysetBookmarks: Sendable where Position: Sendable {}
extension KeysetBookmarks.Bookmark: Sendable where Position: Sendable {}
