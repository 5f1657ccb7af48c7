import PersistenceDriver
import PersistenceDriverSupport

extension SQLiteLayout {
  /// How many layouts to cache; the cache is emptied when it is full, which is rare.
  private static let cacheLimit = 100
  /// The most bytes of a cached layout's text.
  private static let longestCached = 16_384
  private static let cache = Lock<[StoredName: SQLiteLayout]>([:])

  /// Reads a layout; one that this process has read before is not parsed again.
  ///
  /// A layout follows from its text alone, whatever store has it. The cache compares the whole text, by its bytes.
  static func read(_ text: String) throws -> SQLiteLayout {
    guard text.utf8.count <= longestCached else { return try SQLiteLayout(text) }
    let key = StoredName(text)
    if let known = cache.withLock({ $0[key] }) { return known }
    let layout = try SQLiteLayout(text)
    cache.withLock { layouts in
      if layouts.count >= cacheLimit { layouts.removeAll() }
      layouts[key] = layout
    }
    return layout
  }
}
