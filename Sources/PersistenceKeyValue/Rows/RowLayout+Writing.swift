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
    for position in 0..<count {
      let cell = row[position]
      let slot = slots[position]
      if cell.tag != slot.tag {
        guard cell.isNull, slot.isOptional else { throw refused(cell, at: position) }
      } else if slot.isVariable {
        length += cell.borrowedBytes.count
      }
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
    base.storeBytes(of: (UInt32(PackedRow.format) | UInt32(revision) << 16).littleEndian, as: UInt32.self)
    var end = 0
    for position in storedOrder {
      let cell = row[position]
      let slot = slots + position
      let offset = slot.pointee.offset
      if cell.isNull {
        let byte = base.load(fromByteOffset: slot.pointee.nilByte, as: UInt8.self)
        base.storeBytes(
          of: byte | slot.pointee.nilBit, toByteOffset: slot.pointee.nilByte, as: UInt8.self)
      }
      switch slot.pointee.tag {
      case .text, .bytes, .decimal, .document:
        let bytes = cell.isNull ? UnsafeRawBufferPointer(start: nil, count: 0) : cell.borrowedBytes
        if let source = bytes.baseAddress, !bytes.isEmpty {
          (base + fixedLength + end).copyMemory(from: source, byteCount: bytes.count)
        }
        end += bytes.count
        base.storeBytes(
          of: UInt32(truncatingIfNeeded: end).littleEndian, toByteOffset: offset, as: UInt32.self)
      case _ where cell.isNull: break
      case .bool: base.storeBytes(of: cell.boolValue ? 1 : 0, toByteOffset: offset, as: UInt8.self)
      case .integer:
        base.storeBytes(of: cell.integerValue.littleEndian, toByteOffset: offset, as: Int64.self)
      case .double, .date:
        base.storeBytes(
          of: cell.doubleValue.bitPattern.littleEndian, toByteOffset: offset, as: UInt64.self)
      case .uuid: UUIDBytes.write(cell.uuidValue, to: base + offset)
      case .null: break
      }
    }
    let checksum = PackedRow.checksum(UnsafeRawBufferPointer(target))
    base.storeBytes(of: checksum.littleEndian, toByteOffset: 4, as: UInt32.self)
  }

  private func refused(_ cell: RowCell, at position: Int) -> PersistenceError {
    let field = schema.fields[position]
    return PersistenceError(
      .encodingFailed, "the field \(field) cannot be \(cell.tag)", model: schema.name, field: field.name)
  }
}
