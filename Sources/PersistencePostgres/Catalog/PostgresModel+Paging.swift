import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

extension PostgresModel {
  /// The size of the first page of a model.
  static let firstPageLimit = 64

  /// Whether a page has told the size of rows.
  var knowsRowSize: Bool { rowSize.load(ordering: .relaxed) > 0 }

  /// How many rows of a page to fetch at once: about 1 MiB, and few as long as their size is unknown.
  var pageLimit: Int {
    let size = rowSize.load(ordering: .relaxed)
    if size > 0 { return max(1, min(1_000, (1 << 20) / size)) }
    // A single value may take many MiB.
    let isLong = schema.fields.contains { [.text, .bytes, .document].contains($0.kind.tag) }
    return isLong ? 4 : Self.firstPageLimit
  }

  /// How many rows at most a result holds of which the server holds nothing: about 2 MiB.
  var wholeLimit: Int { 2 * pageLimit }

  /// Whether the rows of statements of a shape may fit into ``wholeLimit``.
  func mayFit(_ shape: UInt64) -> Bool { oversized.withLock { !$0.contains(shape) } }

  /// Notes whether the rows of a statement did.
  func note(_ shape: UInt64, fits: Bool) {
    oversized.withLock { oversized in
      if fits {
        oversized.remove(shape)
      } else {
        if oversized.count >= Self.shapeLimit { oversized.removeAll() }
        oversized.insert(shape)
      }
    }
  }

  private static let shapeLimit = 256

  /// Learns the size of rows from a page.
  func learn(rows: Int, bytes: Int) {
    guard rows > 0 else { return }
    let known = rowSize.load(ordering: .relaxed)
    let size = max(1, bytes / rows)
    rowSize.store(known == 0 ? size : max(size, (known + size) / 2), ordering: .relaxed)
  }
}
