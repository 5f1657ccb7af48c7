package import PersistenceDriver

/// Copies of rows of equal width: contiguous cells, with their text and bytes in chunks of memory.
///
/// Copied cells point into the chunks, so a row stays valid until ``removeAll()``.
package struct RowArena: ~Copyable {
  package let width: Int
  /// The number of rows.
  package private(set) var count = 0

  @usableFromInline let chunkSize: Int
  @usableFromInline var cells: UnsafeMutablePointer<RowCell>
  @usableFromInline var capacity = 64
  @usableFromInline var chunks: [UnsafeMutableRawBufferPointer] = []
  /// The free part of the last chunk.
  @usableFromInline var free: UnsafeMutableRawPointer?
  @usableFromInline var freeCount = 0

  /// Creates an arena, whose first copied row allocates the first chunk; later chunks have twice the size.
  package init(width: Int, chunkSize: Int) {
    self.width = width
    self.chunkSize = chunkSize
    cells = .allocate(capacity: 64 * max(1, width))
  }

  deinit {
    cells.deallocate()
    for chunk in chunks { chunk.deallocate() }
  }

  /// The number of bytes that a row's cells point at.
  @inlinable
  package static func byteCount(of row: borrowing Row) -> Int {
    var count = 0
    for position in 0..<row.count where row[position].isBorrowing {
      count &+= row[position].borrowedBytes.count
    }
    return count
  }

  /// Appends a copy of a row, whose cells point at `byteCount` bytes or fewer.
  @inlinable
  package mutating func append(_ row: borrowing Row, byteCount: Int) {
    // The strict comparison gives even an empty text an address, which distinguishes it from nil.
    if freeCount <= byteCount { addChunk(byteCount) }
    let target = nextRow()
    guard var next = free else { return }
    for position in 0..<width {
      let cell = row[position]
      if cell.isBorrowing {
        let bytes = cell.borrowedBytes
        if let start = bytes.baseAddress { next.copyMemory(from: start, byteCount: bytes.count) }
        target[position] = RowCell(tag: cell.tag, bits: UInt64(bytes.count), pointer: next)
        next += bytes.count
      } else {
        target[position] = cell
      }
    }
    freeCount -= next - (free ?? next)
    free = next
  }

  /// Appends a row without a copy of its text and bytes.
  @inlinable
  package mutating func appendBorrowed(_ row: borrowing Row) {
    let target = nextRow()
    for position in 0..<width { target[position] = row[position] }
  }

  @inlinable
  package subscript(row: Int, column: Int) -> RowCell { cells[row &* width &+ column] }

  /// Calls a closure with the first cells of a row.
  @inlinable
  package func withRow<Result>(_ index: Int, width: Int, _ body: (borrowing Row) throws -> Result) rethrows
    -> Result
  {
    try body(Row(cells: UnsafeBufferPointer(start: cells + index &* self.width, count: width)))
  }

  /// Removes the rows, and keeps one chunk of the ordinary size.
  package mutating func removeAll() {
    count = 0
    if let first = chunks.first, first.count > chunkSize {
      first.deallocate()
      chunks.removeFirst()
    }
    while chunks.count > 1 { chunks.removeLast().deallocate() }
    (free, freeCount) = (chunks.first?.baseAddress, chunks.first?.count ?? 0)
  }

  @usableFromInline
  mutating func nextRow() -> UnsafeMutablePointer<RowCell> {
    if count == capacity {
      let larger = UnsafeMutablePointer<RowCell>.allocate(capacity: capacity * 2 * max(1, width))
      larger.moveInitialize(from: cells, count: count * width)
      cells.deallocate()
      cells = larger
      capacity *= 2
    }
    defer { count += 1 }
    return cells + count * width
  }

  @usableFromInline
  mutating func addChunk(_ byteCount: Int) {
    let size = max(chunks.isEmpty ? chunkSize : 2 * chunkSize, byteCount + 1)
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    chunks.append(chunk)
    (free, freeCount) = (chunk.baseAddress, chunk.count)
  }
}

extension RowCell {
  /// Whether the cell points at text or bytes.
  @inlinable var isBorrowing: Bool {
    switch tag {
    case .text, .bytes, .decimal, .document: true
    default: false
    }
  }
}
