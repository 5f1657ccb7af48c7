package import PersistenceDriver

/// Reading in place: cells point into the row, which has been checked first.
///
/// No bytes make a read leave the row: lengths and places are checked against it, each time.
extension RowLayout {
  /// Checks a row and lends all its fields.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged``.
  /// - Complexity: Linear in the length of the row, several bytes per cycle.
  @inline(__always)
  package func fill(_ buffer: RowBuffer, from row: UnsafeRawBufferPointer) throws {
    let base = try checkFixed(row)
    if hasVariable { try checkVariable(base, row.count) }
    let (cells, count) = (buffer.storage, min(count, buffer.count))
    var position = 0
    while position < count {
      cells[position] = try cell(at: position, in: base, count: row.count)
      position &+= 1
    }
  }

  /// Checks as much of a row as some positions take, and lends the fields there.
  package func fill(_ buffer: RowBuffer, from row: UnsafeRawBufferPointer, only positions: [Int]) throws {
    var check = RowCheck.nothing
    try positions.withUnsafeBufferPointer { try fill(buffer, from: row, only: $0, &check) }
  }

  /// The same for positions that are not counted as in use, where some of the row may have been checked.
  @inline(__always)
  func fill(
    _ buffer: RowBuffer, from row: UnsafeRawBufferPointer, only positions: UnsafeBufferPointer<Int>,
    _ check: inout RowCheck
  ) throws {
    let base: UnsafeRawPointer
    if check == .nothing {
      base = try checkFixed(row)
      check = .fixedPart
    } else {
      guard let checked = row.baseAddress else { throw RowDamage.cut.error }
      base = checked
    }
    let cells = buffer.storage
    for position in positions where position < buffer.count {
      if check == .fixedPart, slots[position].form == .variable {
        try checkVariable(base, row.count)
        check = .whole
      }
      cells[position] = try cell(at: position, in: base, count: row.count)
    }
  }

  /// Makes sure that bytes begin with an undamaged fixed part of this layout, and are as long as they were.
  @inline(__always)
  private func checkFixed(_ row: UnsafeRawBufferPointer) throws -> UnsafeRawPointer {
    guard row.count >= fixedLength, let base = row.baseAddress else { throw RowDamage.cut.error }
    guard base.loadUnaligned(as: UInt32.self).littleEndian == head else { throw RowDamage.head.error }
    guard
      base.loadUnaligned(fromByteOffset: PackedRow.fixedChecksum, as: UInt32.self).littleEndian
        == PackedRow.fixedChecksum(base, fixedLength: fixedLength, count: row.count)
    else { throw RowDamage.checksum.error }
    return base
  }

  /// Makes sure that the variable part of a row whose fixed part is sound is so too.
  @inline(__always)
  private func checkVariable(_ base: UnsafeRawPointer, _ count: Int) throws {
    guard
      base.loadUnaligned(fromByteOffset: PackedRow.variableChecksum, as: UInt32.self).littleEndian
        == PackedRow.variableChecksum(base, fixedLength: fixedLength, count: count)
    else { throw RowDamage.checksum.error }
  }

  /// The cell of a field of a row that has been checked.
  @inline(__always)
  private func cell(at position: Int, in base: UnsafeRawPointer, count: Int) throws -> RowCell {
    let slot = slots + position
    let offset = Int(slot.pointee.offset)
    if base.load(fromByteOffset: Int(slot.pointee.nilByte), as: UInt8.self) & slot.pointee.nilBit != 0 {
      guard slot.pointee.isOptional else { throw misplaced(position, "is nil, which it must not be") }
      return .null
    }
    switch slot.pointee.form {
    case .word:
      let bits = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      return RowCell(tag: slot.pointee.tag, bits: bits)
    case .variable:
      let end = Int(end(base, offset))
      let previous = Int(slot.pointee.previousEnd)
      let start = previous == 0 ? 0 : Int(self.end(base, previous))
      guard start <= end, end <= count &- fixedLength else {
        throw misplaced(position, "lies outside the record")
      }
      return RowCell(
        tag: slot.pointee.tag, bits: UInt64(truncatingIfNeeded: end &- start),
        pointer: base + (fixedLength &+ start))
    case .bool:
      let truth = base.load(fromByteOffset: offset, as: UInt8.self)
      guard truth <= 1 else { throw misplaced(position, "holds no truth value") }
      return .bool(truth == 1)
    case .uuid:
      // A cell holds the sixteen bytes as they are.
      return RowCell(
        tag: .uuid, bits: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
        extra: base.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self))
    case .none: return .null
    }
  }

  @inline(__always)
  private func end(_ base: UnsafeRawPointer, _ offset: Int) -> UInt32 {
    base.loadUnaligned(fromByteOffset: offset, as: UInt32.self).littleEndian
  }

  @inline(never)
  private func misplaced(_ position: Int, _ what: String) -> PersistenceError {
    PersistenceError.damaged("the stored field “\(schema.fields[position].name)” \(what)")
  }
}

/// How much of a row has been found undamaged.
enum RowCheck {
  case nothing
  /// The numbers, and where everything lies.
  case fixedPart
  case whole
}

/// What can be wrong with a row as a whole.
private enum RowDamage {
  case cut
  case head
  case checksum

  @inline(never)
  var error: PersistenceError {
    switch self {
    case .cut: .damaged("the record is cut short")
    case .head: .damaged("the record does not begin as one of this schema does")
    case .checksum: .damaged("the record's checksum is wrong")
    }
  }
}
