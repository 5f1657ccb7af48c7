import PersistenceDriver

/// The form of a record's bytes.
///
/// ```
/// 0      format, 2
/// 1      flags, 0
/// 2..<4  the revision of the schema that it was written with, little-endian
/// 4..<8  a checksum of the variable part, little-endian
/// 8..<12 a checksum of the fixed part, of all that stands before it and of the row's length, little-endian
/// 12...  the fixed part: one bit for each field, set where it is nil
///        then for each field, 1 byte for a Bool, 8 for a number or date, 16 for a UUID, and for everything else
///        4 bytes that say where it ends in the variable part
///        the variable part
/// ```
///
/// Fields stand in the order of the stored schema, numbers are little-endian, and nil fields are zero. Every
/// place is known from the schema, so a field is read without looking at those before it. With two checksums,
/// whoever reads numbers alone need not look at the texts to know that the numbers are what was written.
enum PackedRow {
  static let format: UInt8 = 2
  static let headerLength = 12
  static let variableChecksum = 4
  static let fixedChecksum = 8

  // Odd, with about as many ones as zeros in every byte; otherwise of no meaning.
  private static let first: UInt64 = 0x9A6D_35C3_5AA9_C655
  private static let second: UInt64 = 0xD3A5_695C_B12E_3A97
  private static let third: UInt64 = 0x6C4B_D295_E359_1DA3

  /// The checksum of what stands before the variable part, and of the length of the whole row.
  @inline(__always)
  static func fixedChecksum(_ row: UnsafeRawPointer, fixedLength: Int, count: Int) -> UInt32 {
    let seed = word(row, 0) ^ (UInt64(truncatingIfNeeded: count) &* third)
    return checksum(row + headerLength, fixedLength &- headerLength, seed: seed)
  }

  /// Whether bytes, at least as many as the fixed part, begin as a row does, and are those that were written.
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

  /// The checksum of bytes that are no row.
  static func checksum(of bytes: [UInt8]) -> UInt32 {
    bytes.withUnsafeBytes { bytes in
      bytes.baseAddress.map { checksum($0, bytes.count, seed: second) } ?? 0
    }
  }

  /// A checksum of bytes: sixteen at a time are multiplied, and both halves of the product kept.
  ///
  /// It tells damage from data; it is no guard against somebody who wants to deceive.
  @inline(__always)
  private static func checksum(_ bytes: UnsafeRawPointer, _ count: Int, seed: UInt64) -> UInt32 {
    var state = product(seed ^ first, UInt64(truncatingIfNeeded: count) ^ second)
    var index = 0
    if count > 64 {
      // Two chains, since a processor multiplies in less time than it waits for a product.
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
    // The rest; where there are sixteen bytes at all, the last sixteen, whether or not some were taken before.
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
