extension [Int] {
  /// The numbers as bytes, eight each, in the file's byte order.
  var bytes: [UInt8] { flatMap { Swift.withUnsafeBytes(of: Int64($0).littleEndian, [UInt8].init) } }
}

extension [UInt8] {
  /// The number at an offset, of which eight bytes exist.
  func word(at offset: Int) -> Int {
    withUnsafeBytes { Int(Int64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Int64.self))) }
  }

  /// The bytes after their checksum.
  var sealed: [UInt8] { [checksum].bytes + self }

  /// The bytes without their checksum; nil if it does not match.
  var unsealed: [UInt8]? {
    let bytes = Array(dropFirst(8))
    return count >= 24 && bytes.checksum == word(at: 0) ? bytes : nil
  }

  /// A checksum that every change of one word changes, since each step maps different numbers to different ones.
  private var checksum: Int {
    let padded = count % 8 == 0 ? self : self + Array(repeating: 0, count: 8 - count % 8)
    var sum = UInt64(count)
    for offset in stride(from: 0, to: padded.count, by: 8) {
      sum = (sum ^ UInt64(bitPattern: Int64(padded.word(at: offset)))) &* 0xD6E8_FEB8_6659_FD93
      sum ^= sum >> 32
    }
    return Int(truncatingIfNeeded: sum)
  }
}
