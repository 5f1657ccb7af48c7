package import PersistenceDriver

/// Reading in place: cells point into the row, which has been checked first.
///
/// No bytes make a read leave the row: lengths and places are checked against it, each time.
extension RowLayout {
  /// Makes sure that bytes are a whole, undamaged row of this layout.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged``.
  /// - Complexity: Linear in the length of the row, some bytes per cycle.
  @inline(__always)
  func check(_ row: UnsafeRawBufferPointer) throws -> UnsafeRawPointer {
    guard row.count >= fixedLength, let base = row.baseAddress else {
      throw PersistenceError.damaged("the record is cut short")
    }
    let expected = UInt32(PackedRow.format) | UInt32(revision) << 16
    guard base.loadUnaligned(as: UInt32.self).littleEndian == expected else {
      throw PersistenceError.damaged("the record does not begin as one of this schema does")
    }
    guard base.loadUnaligned(fromByteOffset: 4, as: UInt32.self).littleEndian == PackedRow.checksum(row)
    else {
      throw PersistenceError.damaged("the record's checksum is wrong")
    }
    return base
  }

  /// Checks a row and lends all its fields.
  package func fill(_ buffer: RowBuffer, from row: UnsafeRawBufferPointer) throws {
    let base = try check(row)
    var position = 0
    while position < count {
      buffer.setCell(try cell(at: position, in: base, count: row.count), at: position)
      position &+= 1
    }
  }

  /// Checks a row and lends the fields at some positions.
  package func fill(_ buffer: RowBuffer, from row: UnsafeRawBufferPointer, only positions: [Int]) throws {
    let base = try check(row)
    for position in positions {
      buffer.setCell(try cell(at: position, in: base, count: row.count), at: position)
    }
  }

  /// The cell of a field of a row that has been checked.
  @inline(__always)
  func cell(at position: Int, in base: UnsafeRawPointer, count: Int) throws -> RowCell {
    let slot = slots + position
    if base.load(fromByteOffset: slot.pointee.nilByte, as: UInt8.self) & slot.pointee.nilBit != 0 {
      guard slot.pointee.isOptional else { throw misplaced(position, "is nil, which it must not be") }
      return .null
    }
    let offset = slot.pointee.offset
    switch slot.pointee.tag {
    case .integer:
      return .integer(
        Int64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: Int64.self)))
    case .double: return .double(double(base, offset))
    case .date: return .date(double(base, offset))
    case .bool:
      let truth = base.load(fromByteOffset: offset, as: UInt8.self)
      guard truth <= 1 else { throw misplaced(position, "holds no truth value") }
      return .bool(truth == 1)
    case .uuid: return .uuid(UUIDBytes.read(base + offset))
    case .null: return .null
    case .text: return .text(try variable(position, base, count))
    case .bytes: return .bytes(try variable(position, base, count))
    case .decimal: return .decimal(try variable(position, base, count))
    case .document: return .document(try variable(position, base, count))
    }
  }

  @inline(__always)
  private func double(_ base: UnsafeRawPointer, _ offset: Int) -> Double {
    Double(bitPattern: UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
  }

  @inline(__always)
  private func variable(_ position: Int, _ base: UnsafeRawPointer, _ count: Int) throws
    -> UnsafeRawBufferPointer
  {
    let slot = slots + position
    let end = Int(end(base, slot.pointee.offset))
    let start = slot.pointee.previousEnd == 0 ? 0 : Int(self.end(base, slot.pointee.previousEnd))
    guard start <= end, end <= count &- fixedLength else {
      throw misplaced(position, "lies outside the record")
    }
    return UnsafeRawBufferPointer(start: base + fixedLength + start, count: end &- start)
  }

  @inline(__always)
  private func end(_ base: UnsafeRawPointer, _ offset: Int) -> UInt32 {
    base.loadUnaligned(fromByteOffset: offset, as: UInt32.self).littleEndian
  }

  private func misplaced(_ position: Int, _ what: String) -> PersistenceError {
    PersistenceError.damaged("the stored field “\(schema.fields[position].name)” \(what)")
  }
}
