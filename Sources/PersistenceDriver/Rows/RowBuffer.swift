public import Foundation

/// A reusable row under construction: models encode themselves into it, engines fill it while they read.
///
/// Text and bytes are either copied into memory that the buffer owns (`set…`) or pointed at (`setCell`), in
/// which case the pointed-at memory must stay valid until the buffer is filled anew. A buffer belongs to one
/// thread at a time.
public final class RowBuffer {
  @usableFromInline let cells: UnsafeMutablePointer<RowCell>

  /// How many fields the row has.
  public let count: Int

  @exclusivity(unchecked) @usableFromInline var arena = ByteArena()

  /// The cells, for engines that fill them without a check for each.
  @inlinable package var storage: UnsafeMutablePointer<RowCell> { cells }

  /// Makes a buffer for rows of so many fields, all nil.
  public init(count: Int) {
    self.count = max(0, count)
    cells = .allocate(capacity: max(1, count))
    cells.initialize(repeating: .null, count: max(1, count))
  }

  deinit {
    cells.deallocate()
    arena.deallocate()
  }

  /// Sets all fields to nil and forgets the copied bytes, keeping the memory for the next row.
  @inlinable
  public func reset() {
    for position in 0..<count { cells[position] = .null }
    arena.reset()
  }

  /// Lends the row to a closure.
  @inlinable
  public func withRow<Result>(_ body: (borrowing Row) throws -> Result) rethrows -> Result {
    try body(Row(cells: UnsafeBufferPointer(start: cells, count: count)))
  }

  /// Sets a field to a cell whose memory is not copied.
  @inlinable
  public func setCell(_ cell: RowCell, at position: Int) {
    precondition(position >= 0 && position < count, "a row has no field at that position")
    cells[position] = cell
  }

  /// Sets a field to a copy of a cell, whose bytes then live as long as this row.
  @inlinable
  public func setCopy(of cell: RowCell, at position: Int) {
    switch cell.tag {
    case .text, .bytes, .decimal, .document:
      setCell(.borrowed(cell.tag, arena.copy(cell.borrowedBytes)), at: position)
    default: setCell(cell, at: position)
    }
  }

  /// Sets a field to a copy of a string's UTF-8 bytes.
  @inlinable
  public func setText(_ text: String, at position: Int) { set(.text, text, at: position) }

  /// Sets a field to a document, given as canonical JSON text.
  @inlinable
  public func setDocument(_ json: String, at position: Int) { set(.document, json, at: position) }

  /// Sets a field to a decimal number.
  public func setDecimal(_ number: Decimal, at position: Int) {
    set(.decimal, number.canonicalText, at: position)
  }

  /// Sets a field to a copy of bytes.
  @inlinable
  public func setBytes(_ bytes: UnsafeRawBufferPointer, at position: Int) {
    setCell(.bytes(arena.copy(bytes)), at: position)
  }

  /// Sets a field to a value.
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

  /// Sets all fields, in order, to values; fields beyond them become nil.
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
    var text = text
    text.withUTF8 { setCell(.borrowed(tag, arena.copy(UnsafeRawBufferPointer($0))), at: position) }
  }
}
