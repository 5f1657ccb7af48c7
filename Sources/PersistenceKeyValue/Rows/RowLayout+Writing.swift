package import PersistenceDriver

extension RowLayout {
  /// How long a row is when it is packed, after it has been checked against the schema.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/encodingFailed`` where a field holds what
  ///   the schema does not allow, and ``PersistenceError/Code/valueTooLarge`` beyond 4 GiB.
  package func packedLength(of row: borrowing Row) throws -> Int {
    guard row.count == count else {
      throw PersistenceError(
        .encodingFailed, "a row of \(row.count) fields was given for \(count)", model: schema.name)
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
        .valueTooLarge, "a record of \(length) bytes is longer than the 4 GiB that a store holds",
        model: schema.name)
    }
    return length
  }

  /// Writes a row that ``packedLength(of:)`` has measured.
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
        let place = base + Int(slot.pointee.nilByte)
        place.storeBytes(of: place.load(as: UInt8.self) | slot.pointee.nilBit, as: UInt8.self)
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

  /// Writes the checksums of a row whose other bytes have been written.
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
      .encodingFailed, "the field \(field) cannot be \(cell.tag)", model: schema.name, field: field.name)
  }
}
