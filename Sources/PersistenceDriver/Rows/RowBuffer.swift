public import Foundation

/// A reusable row under construction: models encode themselves into it, and engines fill it while they read.
///
/// `set…` copies text and bytes into memory that the buffer owns. `setCell` stores a pointer to memory that must remain
/// valid until the buffer is filled again. A buffer belongs to one thread at a time.
public final class RowBuffer {
  @usableFromInline let cells: UnsafeMutablePointer<RowCell>

  /// The number of fields.
  public let count: Int

  @exclusivity(unchecked) @usableFromInline var arena = ByteArena()

  /// The cells, for engines that fill them without bounds checks.
  @inlinable package var storage: UnsafeMutablePointer<RowCell> { cells }

  /// Creates a buffer for rows with a number of fields, all nil.
  public init(count: Int) {
    self.count = max(0, count)
    cells = .allocate(capacity: max(1, count))
    cells.initialize(repeating: .null, count: max(1, count))
  }

  deinit {
    cells.deallocate()
    arena.deallocate()
  }

  /// Sets all fields to nil and discards the copied bytes, but keeps the memory for the next row.
  @inlinable
  public func reset() {
    for position in 0..<count { cells[position] = .null }
    arena.reset()
  }

  /// Calls a closure with the borrowed row.
  @inlinable
  public func withRow<Result>(_ body: (borrowing Row) throws -> Result) rethrows -> Result {
    try body(Row(cells: UnsafeBufferPointer(start: cells, count: count)))
  }

  /// Sets a field to a cell without copying its memory.
  @inlinable
  public func setCell(_ cell: RowCell, at position: Int) {
    precondition(position >= 0 && position < count, "the row has no field at this position")
    cells[position] = cell
  }

  /// Sets a field to a copy of a cell, including its bytes.
  @inlinable
  public func setCopy(of cell: RowCell, at position: Int) {
    switch cell.tag {
    case .text, .bytes, .decimal, .document:
      setCell(.borrowed(cell.tag, arena.copy(cell.borrowedBytes)), at: position)
    default: setCell(cell, at: position)
    }
  }

  @inlinable
  package func setText(_ text: String, at position: Int) { set(.text, text, at: position) }

  /// Sets a field to a document, which is canonical JSON text.
  @inlinable
  package func setDocument(_ json: String, at position: Int) { set(.document, json, at: position) }

  @usableFromInline
  package func setDecimal(_ number: Decimal, at position: Int) {
    set(.decimal, number.canonicalText, at: position)
  }

  @inlinable
  package func setBytes(_ bytes: UnsafeRawBufferPointer, at position: Int) {
    setCell(.bytes(arena.copy(bytes)), at: position)
  }

  /// Sets a field to a value.
  @inlinable
  public func set(_ value: PersistentValue, at position: Int) {
    switch value {
    case .null: setCell(.null, at: position)
    case .bool(let value): setCell(.bool(value), at: position)
    case .integer(let value): setCell(.integer(value), at: position)
    case .double(let value): setCell(.double(value), at: position)
    case .text(let value): setText(value, at: position)
    case .bytes(let value): value.withUnsafeBytes { setBytes($0, at: position) }
    case .date(let value): setCell(.date(value), at: position)
    case .uuid(let value): setCell(.uuid(value), at: position)
    case .decimal(let value): setDecimal(value, at: position)
    case .document(let value): setDocument(value, at: position)
    }
  }

  /// Sets the fields to values, in order; the remaining fields become nil.
  @inlinable
  public func set(_ values: some Sequence<PersistentValue>) {
    reset()
    var position = 0
    for value in values {
      set(value, at: position)
      position += 1
    }
  }

  @inlinable
  func set(_ tag: RowCell.Tag, _ text: String, at position: Int) {
    // `withUTF8` needs a copy of the string, which counts a reference. Only bridged strings need it.
    let isContiguous: Void? = text.utf8.withContiguousStorageIfAvailable { set(tag, $0, at: position) }
    guard isContiguous == nil else { return }
    var text = text
    text.withUTF8 { set(tag, $0, at: position) }
  }

  @inlinable
  func set(_ tag: RowCell.Tag, _ utf8: UnsafeBufferPointer<UInt8>, at position: Int) {
    setCell(.borrowed(tag, arena.copy(UnsafeRawBufferPointer(utf8))), at: position)
  }
}

/// Memory from which short-lived copies are cut: addresses stay valid until it is reset.
@usableFromInline
struct ByteArena {
  @usableFromInline var chunk: UnsafeMutableRawBufferPointer
  @usableFromInline var used = 0
  @usableFromInline var full: [UnsafeMutableRawBufferPointer] = []

  @usableFromInline
  init() { chunk = UnsafeMutableRawBufferPointer(start: nil, count: 0) }

  @inlinable
  mutating func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    // An empty run still needs an address, which distinguishes it from nil.
    if chunk.count - used <= bytes.count { grow(by: bytes.count) }
    let target = UnsafeMutableRawBufferPointer(rebasing: chunk[used..<used + bytes.count])
    target.copyMemory(from: bytes)
    used += bytes.count
    return UnsafeRawBufferPointer(target)
  }

  @usableFromInline
  mutating func grow(by count: Int) {
    if chunk.count > 0 { full.append(chunk) }
    let size = max(256, max(chunk.count * 2, count + 1))
    chunk = .allocate(byteCount: size, alignment: 16)
    used = 0
  }

  /// Removes all copies, and keeps the largest chunk unless it is larger than ordinary rows need.
  @inlinable
  mutating func reset() {
    used = 0
    if !full.isEmpty || chunk.count > 1 << 20 { shrink() }
  }

  @usableFromInline
  mutating func shrink() {
    for chunk in full { chunk.deallocate() }
    full.removeAll()
    if chunk.count > 1 << 20 {
      chunk.deallocate()
      chunk = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }
  }

  /// Frees all memory; the arena is not used afterwards.
  func deallocate() {
    for chunk in full { chunk.deallocate() }
    chunk.deallocate()
  }
}
