/// A checksum that detects damage: a change to any single word changes the checksum.
struct Checksum {
  private(set) var value: UInt64 = 0x9E37_79B9_7F4A_7C15

  /// Adds a number.
  mutating func add(_ word: UInt64) {
    // Each step is a bijection, so two different values stay different.
    value = (value ^ word) &* 0xD6E8_FEB8_6659_FD93
    value ^= value >> 32
  }

  /// Adds bytes, eight at a time.
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var offset = 0
    while offset + 8 <= bytes.count {
      add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
      offset += 8
    }
    while offset < bytes.count {
      add(UInt64(bytes[offset]))
      offset += 1
    }
    add(UInt64(bytes.count))
  }
}
