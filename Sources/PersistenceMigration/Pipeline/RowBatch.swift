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

  /// What stands between the rows: a record that could not be read, or has no counterpart in the destination.
  struct Failure {
    /// How many rows of the batch come before it.
    var place: Int
    /// How many records of the model come before it.
    var position: Int
    var error: PersistenceError
    /// Its values as JSON, where it could be read.
    var record: String?
  }

  private let fieldCount: Int
  private var cells: UnsafeMutablePointer<RowCell>
  private var capacity: Int
  private var chunks: [UnsafeMutableRawBufferPointer] = []
  /// Where the next bytes go, and how many do.
  @exclusivity(unchecked) private var place: UnsafeMutableRawPointer?
  @exclusivity(unchecked) private var room = 0

  /// How many rows there are.
  @exclusivity(unchecked) private(set) var count = 0
  /// How many bytes their values take, roughly.
  @exclusivity(unchecked) private(set) var bytes = 0
  /// The records among them that could not be read, in order.
  var failures: [Failure] = []
  /// How many records of the model come before the first row; those that could not be read are among them.
  var firstPosition = 0
  /// The digest of the rows, where the side that had the time has made it.
  private var digest: ContentDigest?
  /// Whether the transaction ends with the batch; then the key of the last record that was read, and how many behind
  /// it could not be.
  var endsTransaction = false
  var lastKey: RecordKey?
  var failuresBehind = 0
  /// Whether the model does.
  var endsModel = false

  init(fieldCount: Int) {
    self.fieldCount = fieldCount
    capacity = 64
    cells = .allocate(capacity: 64 * fieldCount)
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
    (count, bytes) = (0, 0)
    failures.removeAll(keepingCapacity: true)
    digest = nil
    (endsTransaction, endsModel, lastKey, failuresBehind) = (false, false, nil, 0)
    if let first = chunks.first, first.count > Self.byteLimit {
      first.deallocate()
      chunks.removeFirst()
    }
    while chunks.count > 1 { chunks.removeLast().deallocate() }
    (place, room) = (chunks.first?.baseAddress, chunks.first?.count ?? 0)
  }

  /// Appends a copy of a row, of a known ``PersistenceDriver/Row/approximateSize``.
  func append(_ row: borrowing Row, size: Int) {
    if room < size { makeChunk(size) }
    let target = makeRoom()
    guard var place else { return }
    for position in 0..<fieldCount {
      let cell = row[position]
      switch cell.tag {
      case .text, .bytes, .decimal, .document:
        // Even an empty run has an address, which tells it from nil.
        let content = cell.borrowedBytes
        if let start = content.baseAddress { place.copyMemory(from: start, byteCount: content.count) }
        target[position] = RowCell(tag: cell.tag, bits: UInt64(content.count), pointer: place)
        place += content.count
      default: target[position] = cell
      }
    }
    room -= place - (self.place ?? place)
    self.place = place
    count += 1
    bytes += size
  }

  /// Appends a row whose bytes stay where they are, valid until ``BatchQueue/pushAndWait(_:)`` returns.
  func appendBorrowed(_ row: borrowing Row, size: Int) {
    let target = makeRoom()
    for position in 0..<row.count { target[position] = row[position] }
    count += 1
    bytes += size
  }

  /// The digest of the rows: made now, where it is not known from before.
  func digest(by digester: RecordDigester) -> ContentDigest {
    if let digest { return digest }
    var sum = ContentDigest()
    for index in 0..<count { withRow(index) { sum.add(digester.digest(of: $0)) } }
    digest = sum
    return sum
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

  /// Takes memory for a row of so many bytes; the first chunk holds a batch of ordinary rows.
  private func makeChunk(_ size: Int) {
    let chunk = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(chunks.isEmpty ? 256 << 10 : 512 << 10, size), alignment: 16)
    chunks.append(chunk)
    (place, room) = (chunk.baseAddress, chunk.count)
  }
}
