/// A set of page numbers.
///
/// A sparse file may have any size, so beyond a limit only the pages in the set need memory.
struct LMDBPageSet {
  /// The most pages that have a bit from the start: 8 MiB of bits, for 256 GiB of pages of 4 KiB.
  private static let denseLimit = 1 << 26

  /// A bit for each of the first pages.
  private var dense: [UInt64]
  /// The words of the other pages, by their index; words without a page are absent.
  private var sparse: [Int: UInt64] = [:]

  /// Makes an empty set with a bit for each of the first pages, up to a limit.
  init(denseCount: Int) {
    dense = Array(repeating: 0, count: (min(denseCount, Self.denseLimit) + 63) / 64)
  }

  /// Adds a page; returns false if the set contains it already.
  mutating func insert(_ page: Int) -> Bool {
    let (word, bit) = (page >> 6, UInt64(1) << UInt64(page & 63))
    let earlier = word < dense.count ? dense[word] : sparse[word, default: 0]
    guard earlier & bit == 0 else { return false }
    if word < dense.count { dense[word] = earlier | bit } else { sparse[word] = earlier | bit }
    return true
  }
}
