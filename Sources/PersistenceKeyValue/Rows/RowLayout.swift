package import PersistenceDriver

/// The layout of a stored schema's packed rows, indexed by the fields of a declared schema.
///
/// The two schemas may order their fields differently; positions always refer to the declared schema.
package final class RowLayout: @unchecked Sendable {  // immutable after init
  /// The encoding of a field that is not nil.
  enum Form: UInt8 {
    /// Eight bytes.
    case word
    /// The offset of its end in the variable part.
    case variable
    case bool, uuid, none
  }

  /// The location of a field.
  struct Slot {
    /// The tag of cells that are not nil.
    let tag: RowCell.Tag
    let form: Form
    let isOptional: Bool
    let nilBit: UInt8
    let nilByte: Int32
    /// The offset of its value, or of its end offset, in the row.
    let offset: Int32
    /// The offset of the end offset of the previous variable field; 0 if there is none.
    let previousEnd: Int32
  }

  let count: Int
  /// The slots by declared position.
  let slots: UnsafeMutablePointer<Slot>
  /// The declared positions in the order of the stored schema.
  let storedOrder: UnsafeMutablePointer<Int32>
  let storedCount: Int
  /// The offset of the variable part.
  let fixedLength: Int
  /// Whether the schema has fields of variable length.
  let hasVariable: Bool
  /// The first four bytes of every row, except rows of an earlier revision.
  let head: UInt32
  package let schema: ModelSchema
  /// Decodes rows of earlier revisions; nil if the model's schema never changed.
  let earlier: EarlierRows?

  /// Computes the layout of a stored schema for a compatible declared one.
  package convenience init(stored: ModelSchema, declared: ModelSchema, revision: UInt16 = 1) {
    self.init(
      stored.fields.map(RowRevision.Field.init), at: declared.fields.map { stored.position(of: $0.name) },
      declared,
      revision: revision)
  }

  /// Computes the layout of rows with some fields, given the number of each declared field among them; a field without
  /// a number is nil.
  init(
    _ fields: [RowRevision.Field], at numbers: [Int?], _ declared: ModelSchema, revision: UInt16,
    earlier: EarlierRows? = nil
  ) {
    schema = declared
    self.earlier = earlier
    head = UInt32(PackedRow.format) | UInt32(revision) << 16
    count = declared.fields.count
    var found: [Slot] = []
    var offset = PackedRow.headerLength + (fields.count + 7) / 8
    var previousEnd = 0
    for (number, field) in fields.enumerated() {
      let form = Self.form(of: field.kind.tag)
      found.append(
        Slot(
          tag: field.kind.tag, form: form, isOptional: field.isOptional, nilBit: 1 << UInt8(number % 8),
          nilByte: Int32(PackedRow.headerLength + number / 8), offset: Int32(offset),
          previousEnd: Int32(previousEnd)))
      switch form {
      case .bool: offset += 1
      case .uuid: offset += 16
      case .word, .none: offset += 8
      case .variable:
        previousEnd = offset
        offset += 4
      }
    }
    let order = numbers.indices.filter { numbers[$0] != nil }
      .sorted { (numbers[$0] ?? 0) < (numbers[$1] ?? 0) }.map { Int32($0) }
    fixedLength = offset
    hasVariable = previousEnd != 0
    storedCount = order.count
    storedOrder = .allocate(capacity: max(1, count))
    storedOrder.initialize(from: order, count: order.count)
    slots = .allocate(capacity: max(1, count))
    let missing = Slot(
      tag: .null, form: .none, isOptional: true, nilBit: 0, nilByte: Int32(PackedRow.headerLength), offset: 0,
      previousEnd: 0)
    for position in 0..<count {
      (slots + position).initialize(to: numbers[position].map { found[$0] } ?? missing)
    }
  }

  deinit {
    slots.deallocate()
    storedOrder.deallocate()
  }

  private static func form(of tag: RowCell.Tag) -> Form {
    switch tag {
    case .integer, .double, .date: .word
    case .text, .bytes, .decimal, .document: .variable
    case .bool: .bool
    case .uuid: .uuid
    case .null: .none
    }
  }
}

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
    let seed = word(row, 0) ^ (UInt64(truncatingIfNeeded: count) &* third)
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
  static func checksum(of bytes: [UInt8]) -> UInt32 {
    bytes.withUnsafeBytes { bytes in
      bytes.baseAddress.map { checksum($0, bytes.count, seed: second) } ?? 0
    }
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
