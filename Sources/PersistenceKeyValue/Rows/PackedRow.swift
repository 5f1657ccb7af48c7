import PersistenceDriver

/// The form of a record's bytes.
///
/// ```
/// 0      format, 1
/// 1      flags, 0
/// 2..<4  the revision of the schema that it was written with, little-endian
/// 4..<8  a checksum of everything else, little-endian
/// 8...   one bit for each field, set where it is nil
///        the fixed part: for each field, 1 byte for a Bool, 8 for a number or date, 16 for a UUID, and for
///        everything else 4 bytes that say where it ends in the variable part
///        the variable part
/// ```
///
/// Fields stand in the order of the stored schema, numbers are little-endian, and nil fields are zero. Every
/// place is known from the schema, so a field is read without looking at those before it.
enum PackedRow {
  static let format: UInt8 = 1
  static let headerLength = 8

  /// The checksum of a row: four lanes of multiply and rotate over words, after the manner of xxHash64.
  ///
  /// It tells damage from data; it is no guard against somebody who wants to deceive.
  @inline(__always)
  static func checksum(_ row: UnsafeRawBufferPointer) -> UInt32 {
    guard let base = row.baseAddress, row.count >= headerLength else { return 0 }
    let (first, second) = (0x9E37_79B1_85EB_CA87 as UInt64, 0xC2B2_AE3D_27D4_EB4F as UInt64)
    let head = base.loadUnaligned(as: UInt32.self).littleEndian
    var hash = (UInt64(truncatingIfNeeded: row.count) &* first) ^ (UInt64(head) &* second)
    var index = headerLength
    let end = row.count
    if end &- index >= 32 {
      var (a, b, c, d) = (hash, hash ^ first, hash ^ second, ~hash)
      while end &- index >= 32 {
        a = round(a, word(base, index))
        b = round(b, word(base, index &+ 8))
        c = round(c, word(base, index &+ 16))
        d = round(d, word(base, index &+ 24))
        index &+= 32
      }
      hash = rotate(a, 1) &+ rotate(b, 7) &+ rotate(c, 12) &+ rotate(d, 18)
    }
    while end &- index >= 8 {
      hash = rotate(hash ^ round(0, word(base, index)), 27) &* first &+ second
      index &+= 8
    }
    while index < end {
      hash = rotate(hash ^ (UInt64(base.load(fromByteOffset: index, as: UInt8.self)) &* second), 11) &* first
      index &+= 1
    }
    hash = (hash ^ (hash >> 33)) &* second
    hash = (hash ^ (hash >> 29)) &* first
    return UInt32(truncatingIfNeeded: hash ^ (hash >> 32))
  }

  @inline(__always)
  private static func word(_ base: UnsafeRawPointer, _ index: Int) -> UInt64 {
    base.loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian
  }

  @inline(__always)
  private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
    rotate(lane &+ word &* 0xC2B2_AE3D_27D4_EB4F, 31) &* 0x9E37_79B1_85EB_CA87
  }

  @inline(__always)
  private static func rotate(_ word: UInt64, _ places: UInt64) -> UInt64 {
    word << places | word >> (64 &- places)
  }
}
