/// How many rows to ask for at once, so that a page stays small whether rows are tiny or of many megabytes.
struct PageSize {
  private static let rowLimit = 256
  private static let byteLimit = 4 << 20

  /// The rows of the next page.
  private(set) var rows = 16
  private var seenRows = 0
  private var seenBytes = 0

  /// Learns from a page that was read.
  mutating func note(rows: Int, bytes: Int) {
    seenRows += rows
    seenBytes += bytes
    guard seenRows > 0 else { return }
    let average = max(1, seenBytes / seenRows)
    self.rows = min(Self.rowLimit, max(1, Self.byteLimit / average))
  }
}
