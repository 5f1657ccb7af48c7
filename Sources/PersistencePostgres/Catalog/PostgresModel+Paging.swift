import PersistenceDriver
import Synchronization

extension PostgresModel {
  /// The size of the first page of a model, which is that of the app's results.
  static let firstPageLimit = 128

  /// Whether a page has told the size of rows.
  var knowsRowSize: Bool { rowSize.load(ordering: .relaxed) > 0 }

  /// How many rows of a page to fetch at once: about 1 MiB, and few as long as their size is unknown.
  var pageLimit: Int {
    if let count = count(atMost: 1_000) { return count }
    // A single value may take many MiB.
    let isLong = schema.fields.contains { [.text, .bytes, .document].contains($0.kind.tag) }
    return isLong ? 4 : Self.firstPageLimit
  }

  /// How many rows one statement reads without a cursor: about 1 MiB; nil as long as their size is unknown.
  ///
  /// A reader of a few rows pays for all of them, but pays for no transaction.
  var wholeLimit: Int? { count(atMost: 1_500) }

  private func count(atMost rows: Int) -> Int? {
    let size = rowSize.load(ordering: .relaxed)
    return size > 0 ? max(1, min(rows, (1 << 20) / size)) : nil
  }

  /// The memory of a result with a few small rows: 128 pointers to rows, and a block of values.
  private static let smallestResult = 1_024 + 2_048

  /// Learns the size of rows from a page.
  ///
  /// Without the memory that even one row takes, a few results of one row would make each row look large.
  func learn(rows: Int, bytes: Int) {
    guard rows > 0 else { return }
    let known = rowSize.load(ordering: .relaxed)
    let size = max(64, (bytes - Self.smallestResult) / rows)
    rowSize.store(known == 0 ? size : max(size, (known + size) / 2), ordering: .relaxed)
  }
}
