package import PersistenceDriver

/// The byte format of a record.
///
/// ```
/// 0      format, 2
/// 1      flags, 0
/// 2..<4  the revision of the writer's schema, little-endian
/// 4..<8  the checksum of the variable part, little-endian
/// 8..<12 the checksum of the fixed part, the bytes before it and the row's length, little-endian
/// 12...  the fixed part: one bit for each field, set if it is nil;
///        then for each field, 1 byte for a Bool, 8 for a number or date, 16 for a UUID, and for all others
///        4 bytes with its end offset in the variable part
///        the variable part
/// ```
///
/// Fields have the order of the stored schema, numbers are little-endian, and nil fields are zero. The schema
/// determines every offset, so a field is decoded without reading others. Two checksums allow a reader of
/// numbers to verify them without reading the texts.
enum PackedRow {
  static let format: UInt8 = 2
  static let headerLength = 12
  static let variableChecksum = 4
  static let fixedChecksum = 8

  // Arbitrary odd constants with about as many ones as zeros in every byte.
  private static let first: UInt64 = 0x9A6D_35C3_5AA9_C655
  private static let second: UInt64 = 0xD3A5_695C_B12E_3A97
  private static let third: UInt64 = 0x6C4B_D295_E359_1DA3

  /// The checksum of everything before the variable part, and of the row's length.
  @inline(__always)
  static func fixedChecksum(_ row: UnsafeRawPointer, fixedLength: Int, count: Int) -> UInt32 {
    fixedChecksum(row, start: word(row, 0), fixedLength: fixedLength, count: count)
  }

  /// The same, given the bytes before it: the head and the checksum of the variable part, as one number.
  ///
  /// The processor would wait if it loaded at once what has just been stored in two pieces.
  @inline(__always)
  static func fixedChecksum(
    _ row: UnsafeRawPointer, start: UInt64, fixedLength: Int, count: Int
  ) -> UInt32 {
    let seed = start ^ (UInt64(truncatingIfNeeded: count) &* third)
    return checksum(row + headerLength, fixedLength &- headerLength, seed: seed)
  }

  /// Whether bytes, at least as many as the fixed part, have the row's head and a valid checksum.
  @inline(__always)
  static func isFixedPartSound(_ row: UnsafeRawPointer, head: UInt32, fixedLength: Int, count: Int) -> Bool {
    row.loadUnaligned(as: UInt32.self).littleEndian == head
      && row.loadUnaligned(fromByteOffset: fixedChecksum, as: UInt32.self).littleEndian
        == fixedChecksum(row, fixedLength: fixedLength, count: count)
  }

  /// The checksum of the variable part.
  @inline(__always)
  static func variableChecksum(_ row: UnsafeRawPointer, fixedLength: Int, count: Int) -> UInt32 {
    checksum(row + fixedLength, count &- fixedLength, seed: third)
  }

  /// The checksum of other data than rows.
  static func checksum(of bytes: [UInt8]) -> UInt32 { bytes.withUnsafeBytes { checksum(of: $0) } }

  /// The checksum of other data than rows.
  static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt32 {
    bytes.baseAddress.map { checksum($0, bytes.count, seed: second) } ?? 0
  }

  /// A checksum that multiplies sixteen bytes at a time and folds both halves of the product.
  ///
  /// It detects damage; it does not protect against forgery.
  @inline(__always)
  private static func checksum(_ bytes: UnsafeRawPointer, _ count: Int, seed: UInt64) -> UInt32 {
    var state = product(seed ^ first, UInt64(truncatingIfNeeded: count) ^ second)
    var index = 0
    if count > 64 {
      // Two chains hide the latency of the multiplication.
      var other = state ^ third
      while index &+ 32 < count {
        state = product(word(bytes, index) ^ first, word(bytes, index &+ 8) ^ state)
        other = product(word(bytes, index &+ 16) ^ second, word(bytes, index &+ 24) ^ other)
        index &+= 32
      }
      state = state &+ other
    }
    while index &+ 16 < count {
      state = product(word(bytes, index) ^ first, word(bytes, index &+ 8) ^ state)
      index &+= 16
    }
    // The rest: the last sixteen bytes, which may overlap those before, or all bytes if there are fewer.
    let (low, high) = last(bytes, count)
    state = product(low ^ second, high ^ state)
    return UInt32(truncatingIfNeeded: state ^ state >> 32)
  }

  @inline(__always)
  private static func last(_ bytes: UnsafeRawPointer, _ count: Int) -> (UInt64, UInt64) {
    if count >= 16 { return (word(bytes, count &- 16), word(bytes, count &- 8)) }
    if count >= 8 { return (word(bytes, 0), word(bytes, count &- 8)) }
    if count >= 4 { return (half(bytes, 0), half(bytes, count &- 4)) }
    guard count > 0 else { return (0, 0) }
    let (head, middle) = (bytes.load(as: UInt8.self), bytes.load(fromByteOffset: count / 2, as: UInt8.self))
    let tail = bytes.load(fromByteOffset: count &- 1, as: UInt8.self)
    return (UInt64(head) | UInt64(middle) << 8, UInt64(tail))
  }

  @inline(__always)
  private static func word(_ base: UnsafeRawPointer, _ index: Int) -> UInt64 {
    base.loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian
  }

  @inline(__always)
  private static func half(_ base: UnsafeRawPointer, _ index: Int) -> UInt64 {
    UInt64(base.loadUnaligned(fromByteOffset: index, as: UInt32.self).littleEndian)
  }

  @inline(__always)
  private static func product(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
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
      length &+= try variableLength(of: row[position], at: position)
      position &+= 1
    }
    return try checkedLength(length)
  }

  /// The length of a value in the variable part, after a check of its kind.
  @inline(__always)
  private func variableLength(of cell: RowCell, at position: Int) throws -> Int {
    let field = places + position
    if cell.tag != field.pointee.tag {
      guard cell.isNull, field.pointee.isOptional else { throw refused(cell, at: position) }
      return 0
    }
    return field.pointee.isVariable ? cell.borrowedBytes.count : 0
  }

  @inline(__always)
  private func checkedLength(_ length: Int) throws -> Int {
    guard length <= Int(UInt32.max) else {
      throw PersistenceError(
        .valueTooLarge, "a record of \(length) bytes exceeds the limit of 4 GiB", model: schema.name)
    }
    return length
  }

  /// Writes a row into memory of the length that ``packedLength(of:)`` returned.
  package func pack(_ row: borrowing Row, into target: UnsafeMutableRawBufferPointer) {
    guard let base = target.baseAddress, target.count >= fixedLength else { return }
    begin(base)
    var end = fixedLength
    var number = 0
    while number < storedCount {
      let position = Int(storedOrder[number])
      number &+= 1
      place(row[position], at: position, base, &end)
    }
    seal(target)
  }

  /// Writes the start of a row whose fields are zero.
  @inline(__always)
  private func begin(_ base: UnsafeMutableRawPointer) {
    UnsafeMutableRawBufferPointer(start: base, count: fixedLength)
      .initializeMemory(as: UInt8.self, repeating: 0)
    base.storeBytes(of: head.littleEndian, as: UInt32.self)
  }

  /// Writes a field after those before it in the stored schema; `end` is where the variable part has got to.
  @inline(__always)
  private func place(
    _ cell: RowCell, at position: Int, _ base: UnsafeMutableRawPointer, _ end: inout Int
  ) {
    let field = places + position
    let offset = Int(field.pointee.offset)
    if cell.isNull {
      let nilByte = base + Int(field.pointee.nilByte)
      nilByte.storeBytes(of: nilByte.load(as: UInt8.self) | field.pointee.nilBit, as: UInt8.self)
      guard field.pointee.isVariable else { return }
    }
    switch field.pointee.tag {
    case .integer, .double, .date:
      base.storeBytes(of: cell.rawBits.littleEndian, toByteOffset: offset, as: UInt64.self)
    case .text, .bytes, .decimal, .document:
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
    case .null: break
    }
  }

  /// Writes the checksums of a row after its other bytes.
  ///
  /// - Parameters:
  ///   - row: The row.
  ///   - known: The checksum of the variable part, if it is known.
  func seal(_ row: UnsafeMutableRawBufferPointer, variableChecksum known: UInt32? = nil) {
    guard let base = row.baseAddress, row.count >= fixedLength else { return }
    let variable =
      known ?? PackedRow.variableChecksum(base, fixedLength: fixedLength, count: row.count)
    base.storeBytes(of: variable.littleEndian, toByteOffset: PackedRow.variableChecksum, as: UInt32.self)
    let fixed = PackedRow.fixedChecksum(
      base, start: UInt64(head) | UInt64(variable) << 32, fixedLength: fixedLength, count: row.count)
    base.storeBytes(of: fixed.littleEndian, toByteOffset: PackedRow.fixedChecksum, as: UInt32.self)
  }

  private func refused(_ cell: RowCell, at position: Int) -> PersistenceError {
    let field = schema.fields[position]
    return PersistenceError(
      .encodingFailed, "the field \(field) cannot contain \(cell.tag)", model: schema.name, field: field.name)
  }

  // MARK: Fields at the end

  /// The length of a packed row with further fields at the end; throws beyond 4 GiB.
  ///
  /// The packed row is a checked one of a layout whose fields are the first ones of this layout. The other row has the
  /// further fields, in the order of the stored schema.
  func length(
    of packed: UnsafeRawBufferPointer, in layout: RowLayout, with fields: borrowing Row
  ) throws -> Int {
    var length = packed.count &+ (fixedLength &- layout.fixedLength)
    for number in 0..<fields.count {
      length &+= try variableLength(of: fields[number], at: layout.count &+ number)
    }
    return try checkedLength(length)
  }

  /// Copies a packed row with further fields at the end into memory of the length that
  /// ``length(of:in:with:)`` returned.
  func pack(
    _ packed: UnsafeRawBufferPointer, in layout: RowLayout, with fields: borrowing Row,
    into target: UnsafeMutableRawBufferPointer
  ) {
    guard let base = target.baseAddress, let old = packed.baseAddress, target.count >= fixedLength,
      packed.count >= layout.fixedLength
    else { return }
    begin(base)
    let (header, variable) = (PackedRow.headerLength, packed.count &- layout.fixedLength)
    (base + header).copyMemory(from: old + header, byteCount: layout.nilCount)
    (base + (header &+ nilCount)).copyMemory(
      from: old + (header &+ layout.nilCount),
      byteCount: layout.fixedLength &- header &- layout.nilCount)
    (base + fixedLength).copyMemory(from: old + layout.fixedLength, byteCount: variable)
    var end = fixedLength &+ variable
    for number in 0..<fields.count { place(fields[number], at: layout.count &+ number, base, &end) }
    // A check of the packed row has verified its checksum of a variable part that is not empty.
    let isSame = variable > 0 && end == fixedLength &+ variable
    seal(
      target,
      variableChecksum: isSame
        ? old.loadUnaligned(fromByteOffset: PackedRow.variableChecksum, as: UInt32.self).littleEndian : nil)
  }
}
