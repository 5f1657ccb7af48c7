/// A row borrowed from the engine: its fields by position, in the order of the request's schema.
///
/// A row cannot be copied or kept. To keep its values, read typed values with ``PersistentValueConvertible``, one
/// ``PersistentValue`` with ``value(at:)``, or all of them with ``values()``.
public struct Row: ~Copyable {
  @usableFromInline let cells: UnsafePointer<RowCell>

  /// The number of fields.
  public let count: Int

  /// Creates a row over cells that remain valid while the row is borrowed.
  @inlinable
  public init(cells: UnsafeBufferPointer<RowCell>) {
    self.cells = cells.baseAddress ?? Row.none
    self.count = cells.count
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
    return cells[position]
  }

  /// The row of the first fields.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` if the row has fewer.
  package func prefix(_ length: Int) throws -> Row {
    guard length <= count else { throw Row.lacking(length - 1, count) }
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
    let cell = try field(at: position)
    guard cell.tag == tag else { throw Row.unexpected(cell.tag, insteadOf: tag, at: position) }
    return cell
  }

  @usableFromInline
  static func unexpected(_ found: RowCell.Tag, insteadOf wanted: RowCell.Tag, at position: Int)
    -> PersistenceError
  {
    PersistenceError.damaged("field number \(position) contains \(found) instead of \(wanted)")
  }
}
