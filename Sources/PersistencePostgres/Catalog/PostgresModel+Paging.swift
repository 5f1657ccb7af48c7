import Synchronization

extension PostgresModel {
  /// How many rows of a page to fetch at once: about 1 MiB, and few as long as their size is unknown.
  var pageLimit: Int {
    let size = rowSize.load(ordering: .relaxed)
    return size == 0 ? 64 : max(8, min(1_000, (1 << 20) / size))
  }

  /// Learns the size of rows from a page.
  func learn(rows: Int, bytes: Int) {
    guard rows > 0 else { return }
    let known = rowSize.load(ordering: .relaxed)
    let size = max(1, bytes / rows)
    rowSize.store(known == 0 ? size : max(size, (known + size) / 2), ordering: .relaxed)
  }
}
