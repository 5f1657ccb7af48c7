public import Foundation
import PersistencePrimitives

/// A row borrowed from the engine: its fields by position, in the order of the request's schema.
///
/// A row cannot be copied or kept. To keep its values, read typed values with ``PersistentValueConvertible``, one
/// ``PersistentValue`` with ``value(at:)``, or all of them with ``values()``.
public struct Row: ~Copyable {
  @usableFromInline let cells: UnsafePointer<RowCell>
  /// The record that contains the fields; nil if the cells do.
  @usableFromInline let packed: PackedRecord?

  /// The number of fields.
  public let count: Int

  /// Creates a row over cells that remain valid while the row is borrowed.
  @inlinable
  public init(cells: UnsafeBufferPointer<RowCell>) {
    self.cells = cells.baseAddress ?? Row.none
    packed = nil
    count = cells.count
  }

  /// Creates a row over a packed record that remains valid while the row is borrowed.
  ///
  /// A field is read when it is asked for, and only then, straight from the record.
  @inlinable
  package init(packed: PackedRecord, count: Int) {
    cells = Row.none
    self.packed = packed
    self.count = count
  }

  @usableFromInline
  nonisolated(unsafe) static let none = UnsafePointer(  // never read: the cells of an empty row
    UnsafeMutablePointer<RowCell>.allocate(capacity: 1))

  /// The borrowed cell of a field.
  ///
  /// - Parameter position: The field's position in the schema. A position outside the row is a programming error and
  ///   stops the program.
  @inlinable
  public subscript(position: Int) -> RowCell {
    precondition(position >= 0 && position < count, "the row has no field at this position")
    return unchecked(position)
  }

  /// The cell at a position in the row.
  @inlinable
  @inline(__always)
  func unchecked(_ position: Int) -> RowCell {
    if let packed { return packed.cell(at: position, tag: packed.tag(at: position)) }
    return cells[position]
  }

  /// A copy of one field's value.
  ///
  /// - Parameter position: The field's position in the schema.
  /// - Returns: The value.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the row lacks the field, or the
  ///   stored bytes are not a value.
  public func value(at position: Int) throws -> PersistentValue {
    try field(at: position).value()
  }

  /// A copy of all values.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if stored bytes are not a value.
  public func values() throws -> [PersistentValue] {
    var values: [PersistentValue] = []
    values.reserveCapacity(count)
    for position in 0..<count { values.append(try self[position].value()) }
    return values
  }
}

extension Row {
  /// The cell of a field.
  ///
  /// A context that returns a row with too few cells causes an error, not the end of the program.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the row lacks the field.
  @inlinable
  @inline(__always)
  package func field(at position: Int) throws -> RowCell {
    guard position >= 0 && position < count else { throw Row.lacking(position, count) }
    return unchecked(position)
  }

  /// Whether a field is nil.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the row lacks the field.
  @inlinable
  @inline(__always)
  package func isNull(at position: Int) throws -> Bool {
    guard position >= 0 && position < count else { throw Row.lacking(position, count) }
    return (packed?.tag(at: position) ?? cells[position].tag) == .null
  }

  /// The row of the first fields.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the row has fewer.
  package func prefix(_ length: Int) throws -> Row {
    guard length <= count else { throw Row.lacking(length - 1, count) }
    if let packed { return Row(packed: packed, count: length) }
    return Row(cells: UnsafeBufferPointer(start: cells, count: length))
  }

  @usableFromInline
  static func lacking(_ position: Int, _ count: Int) -> PersistenceError {
    PersistenceError.damaged("the row has \(count) fields, so it lacks field number \(position)")
  }

  /// The cell of a field that must hold the given tag.
  @inlinable
  @inline(__always)
  func cell(at position: Int, tag: RowCell.Tag) throws -> RowCell {
    guard position >= 0 && position < count else { throw Row.lacking(position, count) }
    let found = packed?.tag(at: position) ?? cells[position].tag
    guard found == tag else { throw Row.unexpected(found, insteadOf: tag, at: position) }
    // The tag is a constant of the caller's, so the way to read the field is known when it is compiled.
    return packed?.cell(at: position, tag: tag) ?? cells[position]
  }

  @usableFromInline
  static func unexpected(_ found: RowCell.Tag, insteadOf wanted: RowCell.Tag, at position: Int)
    -> PersistenceError
  {
    PersistenceError.damaged("field number \(position) contains \(found) instead of \(wanted)")
  }
}

/// One field of a row, borrowed from the engine's memory.
///
/// A cell points to text, bytes, decimals and documents without copying them. It is valid only while the closure that
/// received its ``Row`` runs. Decimals are canonical text, documents canonical JSON.
public struct RowCell: BitwiseCopyable {
  /// The kind of a cell's value; the raw values order the kinds, nil first.
  ///
  /// A raw value never changes its meaning, so contexts may write it to their files. New ones may be added.
  public enum Tag: UInt8, Sendable, Hashable, BitwiseCopyable {
    /// Nil.
    case null = 0
    /// A Boolean value.
    case bool = 1
    /// An integer of up to 64 bits.
    case integer = 2
    /// A floating-point number.
    case double = 3
    /// UTF-8 text.
    case text = 4
    /// Bytes.
    case bytes = 5
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date = 6
    /// Sixteen bytes of a UUID.
    case uuid = 7
    /// The canonical text of a decimal number.
    case decimal = 8
    /// Canonical JSON text.
    case document = 9
  }

  /// The kind of the value.
  public let tag: Tag
  @usableFromInline let bits: UInt64
  @usableFromInline let extra: UInt64
  @usableFromInline let pointer: UnsafeRawPointer?

  /// Creates a cell from its parts, which must be those of a cell created by the other initializers.
  @inlinable
  package init(tag: Tag, bits: UInt64 = 0, extra: UInt64 = 0, pointer: UnsafeRawPointer? = nil) {
    self.tag = tag
    self.bits = bits
    self.extra = extra
    self.pointer = pointer
  }

  /// The cell of a nil field.
  @inlinable public static var null: RowCell { RowCell(tag: .null) }

  /// A cell with a Boolean value.
  @inlinable
  public static func bool(_ value: Bool) -> RowCell { RowCell(tag: .bool, bits: value ? 1 : 0) }

  /// A cell with an integer.
  @inlinable
  public static func integer(_ value: Int64) -> RowCell {
    RowCell(tag: .integer, bits: UInt64(bitPattern: value))
  }

  /// A cell with a normalized floating-point number (contract V4).
  @inlinable
  public static func double(_ value: Double) -> RowCell {
    RowCell(tag: .double, bits: TotalOrder.normalized(value).bitPattern)
  }

  /// A cell with a date, in seconds since 2001-01-01 00:00:00 UTC.
  @inlinable
  public static func date(_ seconds: Double) -> RowCell {
    RowCell(tag: .date, bits: TotalOrder.normalized(seconds).bitPattern)
  }

  /// A cell with a UUID.
  @inlinable
  public static func uuid(_ value: UUID) -> RowCell {
    let halves = unsafeBitCast(value.uuid, to: (UInt64, UInt64).self)
    return RowCell(tag: .uuid, bits: halves.0, extra: halves.1)
  }

  /// A cell over borrowed UTF-8 text, which must be valid UTF-8.
  @inlinable
  public static func text(_ utf8: UnsafeRawBufferPointer) -> RowCell { borrowed(.text, utf8) }

  /// A cell over borrowed bytes.
  @inlinable
  public static func bytes(_ bytes: UnsafeRawBufferPointer) -> RowCell { borrowed(.bytes, bytes) }

  /// A cell over the borrowed canonical text of a decimal number.
  @inlinable
  public static func decimal(_ utf8: UnsafeRawBufferPointer) -> RowCell { borrowed(.decimal, utf8) }

  /// A cell over borrowed canonical JSON text.
  @inlinable
  public static func document(_ utf8: UnsafeRawBufferPointer) -> RowCell { borrowed(.document, utf8) }

  @inlinable
  static func borrowed(_ tag: Tag, _ bytes: UnsafeRawBufferPointer) -> RowCell {
    RowCell(tag: tag, bits: UInt64(bytes.count), pointer: bytes.baseAddress)
  }
}

extension RowCell {
  /// The bits of a number or date, as they are stored.
  @inlinable package var rawBits: UInt64 { bits }

  /// The second half of a UUID, as ``rawBits`` are the first.
  @inlinable package var rawExtra: UInt64 { extra }

  /// Whether the field is nil.
  @inlinable public var isNull: Bool { tag == .null }

  /// The Boolean value of a ``Tag/bool`` cell.
  @inlinable public var boolValue: Bool { bits != 0 }

  /// The integer of an ``Tag/integer`` cell.
  @inlinable public var integerValue: Int64 { Int64(bitPattern: bits) }

  /// The number of a ``Tag/double`` cell, or the seconds of a ``Tag/date`` cell.
  @inlinable public var doubleValue: Double { Double(bitPattern: bits) }

  /// The UUID of a ``Tag/uuid`` cell.
  ///
  /// The initializer of `UUID` is not inlined and takes a hundred instructions; the bits are cast instead.
  @inlinable public var uuidValue: UUID { unsafeBitCast((bits, extra), to: UUID.self) }

  /// The bytes of a text, bytes, decimal or document cell, valid only while the row is borrowed.
  @inlinable public var borrowedBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: pointer, count: pointer == nil ? 0 : Int(bits))
  }

  /// The borrowed bytes as UTF-8 code units.
  @inlinable public var borrowedText: UnsafeBufferPointer<UInt8> {
    borrowedBytes.assumingMemoryBound(to: UInt8.self)
  }
}
