import PersistenceDriver

/// Rows on their way from one thread to another: their cells, one after the other, and a copy of the bytes that they
/// point at, in memory that is used again and again.
///
/// One side has it at a time.
final class RowBatch: @unchecked Sendable {  // handed from thread to thread by BatchQueue
  /// How many rows a batch takes at most.
  static let rowLimit = 512
  /// How many bytes of values a batch takes, roughly; it ends with the row that passes it.
  static let byteLimit = 1 << 20

  /// What stands between the rows: a record that could not be read.
  struct Failure {
    /// How many rows of the batch come before it.
    var place: Int
    /// How many records of the model come before it.
    var position: Int
    var error: PersistenceError
  }

  private let fieldCount: Int
  private var cells: UnsafeMutablePointer<RowCell>
  private var capacity: Int
  private var chunks: [UnsafeMutableRawBufferPointer] = []
  private var used = 0

  /// How many rows there are.
  private(set) var count = 0
  /// How many bytes their values take, roughly.
  private(set) var bytes = 0
  /// The records among them that could not be read, in order.
  var failures: [Failure] = []
  /// How many records of the model come before the first row; those that could not be read are among them.
  var firstPosition = 0
  /// The digest of the rows, where digests are made.
  var digest = ContentDigest()
  /// Whether the transaction ends with the batch; then the key of the last record that was read, and how many behind
  /// it could not be.
  var endsTransaction = false
  var lastKey: RecordKey?
  var failuresBehind = 0
  /// Whether the model does.
  var endsModel = false

  init(fieldCount: Int) {
    self.fieldCount = max(1, fieldCount)
    capacity = 64
    cells = .allocate(capacity: 64 * max(1, fieldCount))
  }

  deinit {
    cells.deallocate()
    for chunk in chunks { chunk.deallocate() }
  }

  var isEmpty: Bool { count == 0 && failures.isEmpty }
  var isFull: Bool {
    count >= Self.rowLimit || bytes >= Self.byteLimit || failures.count >= Self.rowLimit
  }

  /// How many records of the model come before a row of the batch.
  func position(of index: Int) -> Int {
    failures.isEmpty
      ? firstPosition + index : firstPosition + index + failures.prefix { $0.place <= index }.count
  }

  /// Forgets the rows, keeping the memory that ordinary rows need.
  func reset() {
    (count, bytes, used) = (0, 0, 0)
    failures.removeAll(keepingCapacity: true)
    digest = ContentDigest()
    (endsTransaction, endsModel, lastKey, failuresBehind) = (false, false, nil, 0)
    while chunks.count > 1 { chunks.removeLast().deallocate() }
  }

  /// Appends a copy of a row.
  func append(_ row: borrowing Row) {
    let target = makeRoom()
    var size = 8 * row.count
    for position in 0..<row.count {
      let cell = row[position]
      switch cell.tag {
      case .text, .bytes, .decimal, .document:
        let content = cell.borrowedBytes
        size += content.count
        let copy = copy(content)
        target[position] = RowCell(tag: cell.tag, bits: UInt64(content.count), pointer: copy)
      default: target[position] = cell
      }
    }
    count += 1
    bytes += size
  }

  /// Appends a row whose bytes stay where they are, valid until ``BatchQueue/pushAndWait(_:)`` returns.
  func appendBorrowed(_ row: borrowing Row) {
    let target = makeRoom()
    for position in 0..<row.count { target[position] = row[position] }
    count += 1
    bytes += row.approximateSize
  }

  /// Lends a row to a closure.
  func withRow<Result>(_ index: Int, _ body: (borrowing Row) throws -> Result) rethrows -> Result {
    try body(
      Row(cells: UnsafeBufferPointer(start: cells + index * fieldCount, count: fieldCount)))
  }

  private func makeRoom() -> UnsafeMutablePointer<RowCell> {
    if count == capacity {
      let more = UnsafeMutablePointer<RowCell>.allocate(capacity: capacity * 2 * fieldCount)
      more.moveInitialize(from: cells, count: count * fieldCount)
      cells.deallocate()
      cells = more
      capacity *= 2
    }
    return cells + count * fieldCount
  }

  private func copy(_ content: UnsafeRawBufferPointer) -> UnsafeRawPointer {
    if chunks.isEmpty || chunks[chunks.count - 1].count - used <= content.count {
      // The first chunk holds a batch of ordinary rows; what is longer gets one of its own.
      let size = max(chunks.isEmpty ? 128 << 10 : 256 << 10, content.count + 1)
      chunks.append(.allocate(byteCount: size, alignment: 16))
      used = 0
    }
    let target = UnsafeMutableRawBufferPointer(rebasing: chunks[chunks.count - 1][used...])
    target.copyMemory(from: content)
    used += content.count
    // Never nil, since there is a byte of room even behind an empty run.
    return UnsafeRawPointer(target.baseAddress.unsafelyUnwrapped)
  }
}
