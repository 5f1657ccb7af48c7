package import PersistenceDriver

/// Decoding in place: after the checks, cells point into the row.
///
/// No input makes a read leave the row: every offset is checked against its length.
extension RowLayout {
  /// Checks a row and decodes all its fields.
  ///
  /// - Complexity: Linear in the row's length, several bytes a cycle.
  @inline(__always)
  package func fill(_ buffer: RowBuffer, from row: UnsafeRawBufferPointer) throws {
    guard let base = start(of: row) else { return try fillEarlier(buffer, from: row, only: nil) }
    try checkFixed(base, row.count)
    if hasVariable { try checkVariable(base, row.count) }
    let (cells, count) = (buffer.storage, min(count, buffer.count))
    var position = 0
    while position < count {
      cells[position] = try cell(at: position, in: base, count: row.count)
      position &+= 1
    }
  }

  /// Checks the parts of a row that contain some positions, and decodes the fields there.
  package func fill(_ buffer: RowBuffer, from row: UnsafeRawBufferPointer, only positions: [Int]) throws {
    var check = RowCheck.nothing
    try positions.withUnsafeBufferPointer { try fill(buffer, from: row, only: $0, &check) }
  }

  /// The same for unretained positions, if a part of the row may have been checked already.
  @inline(__always)
  func fill(
    _ buffer: RowBuffer, from row: UnsafeRawBufferPointer, only positions: UnsafeBufferPointer<Int>,
    _ check: inout RowCheck
  ) throws {
    let base: UnsafeRawPointer
    if check == .nothing {
      // A row of an earlier revision stays unchecked, so that every call takes this path.
      guard let start = start(of: row) else { return try fillEarlier(buffer, from: row, only: positions) }
      try checkFixed(start, row.count)
      base = start
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

  /// The start of a row with this layout's head and enough bytes for its fixed part; nil for any other row.
  @inline(__always)
  private func start(of row: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    guard row.count >= fixedLength, let base = row.baseAddress,
      base.loadUnaligned(as: UInt32.self).littleEndian == head
    else { return nil }
    return base
  }

  /// Decodes all fields of a row of an earlier revision, or some; throws if the row has no such revision.
  @inline(never)
  private func fillEarlier(
    _ buffer: RowBuffer, from row: UnsafeRawBufferPointer, only positions: UnsafeBufferPointer<Int>?
  ) throws {
    guard try earlier?.fill(buffer, from: row, only: positions) == true else {
      throw row.count < fixedLength ? RowDamage.cut.error : RowDamage.head.error
    }
  }

  /// Throws unless the row's fixed part is undamaged and the row has its original length.
  @inline(__always)
  private func checkFixed(_ base: UnsafeRawPointer, _ count: Int) throws {
    guard
      base.loadUnaligned(fromByteOffset: PackedRow.fixedChecksum, as: UInt32.self).littleEndian
        == PackedRow.fixedChecksum(base, fixedLength: fixedLength, count: count)
    else { throw RowDamage.checksum.error }
  }

  /// Throws unless the variable part is undamaged; the fixed part has been checked.
  @inline(__always)
  private func checkVariable(_ base: UnsafeRawPointer, _ count: Int) throws {
    guard
      base.loadUnaligned(fromByteOffset: PackedRow.variableChecksum, as: UInt32.self).littleEndian
        == PackedRow.variableChecksum(base, fixedLength: fixedLength, count: count)
    else { throw RowDamage.checksum.error }
  }

  /// The cell of a field in a checked row.
  @inline(__always)
  private func cell(at position: Int, in base: UnsafeRawPointer, count: Int) throws -> RowCell {
    let slot = slots + position
    let offset = Int(slot.pointee.offset)
    if base.load(fromByteOffset: Int(slot.pointee.nilByte), as: UInt8.self) & slot.pointee.nilBit != 0 {
      guard slot.pointee.isOptional else { throw misplaced(position, "is nil, but not optional") }
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
      guard truth <= 1 else { throw misplaced(position, "contains no Boolean") }
      return .bool(truth == 1)
    case .uuid:
      // A cell contains the sixteen bytes unchanged.
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

/// The part of a row that has been checked.
enum RowCheck {
  case nothing
  /// The numbers and all offsets.
  case fixedPart
  case whole
}

/// Damage of a whole row.
private enum RowDamage {
  case cut, head, checksum

  @inline(never)
  var error: PersistenceError {
    switch self {
    case .cut: .damaged("the record is truncated")
    case .head: .damaged("the record's header does not match its schema")
    case .checksum: .damaged("the record's checksum is wrong")
    }
  }
}

extension RowLayout {
  /// The length of the packed row, after a check against the schema; throws beyond 4 GiB.
  package func packedLength(of row: borrowing Row) throws -> Int {
    guard row.count == count else {
      throw PersistenceError(
        .encodingFailed, "the row has \(row.count) fields, but the schema has \(count)", model: schema.name)
    }
    var length = fixedLength
    var position = 0
    while position < count {
      let cell = row[position]
      let slot = slots + position
      if cell.tag != slot.pointee.tag {
        guard cell.isNull, slot.pointee.isOptional else { throw refused(cell, at: position) }
      } else if slot.pointee.form == .variable {
        length &+= cell.borrowedBytes.count
      }
      position &+= 1
    }
    guard length <= Int(UInt32.max) else {
      throw PersistenceError(
        .valueTooLarge, "a record of \(length) bytes exceeds the limit of 4 GiB", model: schema.name)
    }
    return length
  }

  /// Writes a row into memory of the length that ``packedLength(of:)`` returned.
  package func pack(_ row: borrowing Row, into target: UnsafeMutableRawBufferPointer) {
    guard let base = target.baseAddress, target.count >= fixedLength else { return }
    UnsafeMutableRawBufferPointer(start: base, count: fixedLength)
      .initializeMemory(as: UInt8.self, repeating: 0)
    base.storeBytes(of: head.littleEndian, as: UInt32.self)
    var end = fixedLength
    var number = 0
    while number < storedCount {
      let position = Int(storedOrder[number])
      number &+= 1
      let cell = row[position]
      let slot = slots + position
      let offset = Int(slot.pointee.offset)
      if cell.isNull {
        let nilByte = base + Int(slot.pointee.nilByte)
        nilByte.storeBytes(of: nilByte.load(as: UInt8.self) | slot.pointee.nilBit, as: UInt8.self)
        guard slot.pointee.form == .variable else { continue }
      }
      switch slot.pointee.form {
      case .word: base.storeBytes(of: cell.rawBits.littleEndian, toByteOffset: offset, as: UInt64.self)
      case .variable:
        let bytes = cell.borrowedBytes
        if let source = bytes.baseAddress, !bytes.isEmpty {
          (base + end).copyMemory(from: source, byteCount: bytes.count)
          end &+= bytes.count
        }
        base.storeBytes(
          of: UInt32(truncatingIfNeeded: end &- fixedLength).littleEndian, toByteOffset: offset,
          as: UInt32.self)
      case .bool: base.storeBytes(of: cell.boolValue ? 1 : 0, toByteOffset: offset, as: UInt8.self)
      case .uuid:
        base.storeBytes(of: cell.rawBits, toByteOffset: offset, as: UInt64.self)
        base.storeBytes(of: cell.rawExtra, toByteOffset: offset &+ 8, as: UInt64.self)
      case .none: break
      }
    }
    seal(target)
  }

  /// Writes the checksums of a row after its other bytes.
  func seal(_ row: UnsafeMutableRawBufferPointer) {
    guard let base = row.baseAddress, row.count >= fixedLength else { return }
    let variable = PackedRow.variableChecksum(base, fixedLength: fixedLength, count: row.count)
    base.storeBytes(of: variable.littleEndian, toByteOffset: PackedRow.variableChecksum, as: UInt32.self)
    let fixed = PackedRow.fixedChecksum(base, fixedLength: fixedLength, count: row.count)
    base.storeBytes(of: fixed.littleEndian, toByteOffset: PackedRow.fixedChecksum, as: UInt32.self)
  }

  private func refused(_ cell: RowCell, at position: Int) -> PersistenceError {
    let field = schema.fields[position]
    return PersistenceError(
      .encodingFailed, "the field \(field) cannot contain \(cell.tag)", model: schema.name, field: field.name)
  }
}
