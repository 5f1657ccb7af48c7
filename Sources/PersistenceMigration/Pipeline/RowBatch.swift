import PersistenceDriver
import PersistenceDriverSupport

/// Rows that one thread passes to another; ``BatchQueue`` reuses the batch and its memory.
///
/// One thread uses it at a time.
final class RowBatch: @unchecked Sendable {  // handed from thread to thread by BatchQueue
  static let rowLimit = 512
  /// The approximate maximum size of the values in bytes; the row that exceeds it ends the batch.
  static let byteLimit = 1 << 20

  /// A record that is unreadable or has no counterpart in the destination.
  struct Failure {
    /// The number of preceding rows of the batch.
    var index: Int
    /// The number of preceding records of the model.
    var position: Int
    var error: PersistenceError
    /// The record as JSON; nil if unreadable.
    var record: String?
  }

  @exclusivity(unchecked) private var rows: RowArena

  var count: Int { rows.count }
  /// The approximate size of the values in bytes.
  @exclusivity(unchecked) private(set) var bytes = 0
  var failures: [Failure] = []
  /// The number of records of the model before the first row, including unreadable ones.
  var firstPosition = 0
  /// The digest of the rows, if either thread has computed it.
  private var digest: ContentDigest?
  /// Whether the batch ends a transaction; then also the last key, and the number of unreadable records behind it.
  var endsTransaction = false
  var lastKey: RecordKey?
  var failuresBehind = 0
  var endsModel = false

  init(fieldCount: Int) {
    // The first chunk holds a batch of ordinary rows.
    rows = RowArena(width: fieldCount, chunkSize: 256 << 10)
  }

  var isEmpty: Bool { count == 0 && failures.isEmpty }
  var isFull: Bool {
    count >= Self.rowLimit || bytes >= Self.byteLimit || failures.count >= Self.rowLimit
  }

  /// The number of records of the model before a row of the batch.
  func position(of index: Int) -> Int {
    failures.isEmpty
      ? firstPosition + index : firstPosition + index + failures.prefix { $0.index <= index }.count
  }

  /// Removes all rows, and keeps memory for ordinary rows.
  func reset() {
    rows.removeAll()
    bytes = 0
    failures.removeAll(keepingCapacity: true)
    digest = nil
    (endsTransaction, endsModel, lastKey, failuresBehind) = (false, false, nil, 0)
  }

  /// Appends a copy of a row of a known ``PersistenceDriver/Row/approximateSize``.
  func append(_ row: borrowing Row, size: Int) {
    rows.append(row, byteCount: size)
    bytes += size
  }

  /// Appends a row without copying its bytes, which must stay valid until ``BatchQueue/pushAndWait(_:)`` returns.
  func appendBorrowed(_ row: borrowing Row, size: Int) {
    rows.appendBorrowed(row)
    bytes += size
  }

  /// The digest of the rows, computed on first use.
  func digest(by digester: RecordDigester) -> ContentDigest {
    if let digest { return digest }
    var sum = ContentDigest()
    for index in 0..<count { withRow(index) { sum.add(digester.digest(of: $0)) } }
    digest = sum
    return sum
  }

  func withRow<Result>(_ index: Int, _ body: (borrowing Row) throws -> Result) rethrows -> Result {
    try rows.withRow(index, width: rows.width, body)
  }
}
