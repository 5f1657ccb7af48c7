/// A check of text that other programs wrote.
enum UTF8Text {
  /// Whether bytes are valid UTF-8; ASCII, the common case, is checked eight bytes at a time.
  @inline(__always)
  static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool { isASCII(bytes) || isValidBeyondASCII(bytes) }

  @inline(__always)
  private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let count = bytes.count
    guard count >= 8 else { return isShortASCII(bytes) }
    // The last eight bytes may overlap those checked in the loop.
    var bits = bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
    var offset = 0
    while offset &+ 8 < count {
      bits |= bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      offset &+= 8
    }
    return bits & 0x8080_8080_8080_8080 == 0
  }

  @inline(__always)
  private static func isShortASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let count = bytes.count
    if count >= 4 {
      let first = bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self)
      let last = bytes.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
      return (first | last) & 0x8080_8080 == 0
    }
    if count == 0 { return true }
    return (bytes[0] | bytes[count >> 1] | bytes[count &- 1]) < 0x80
  }

  /// Checks scalar by scalar (The Unicode Standard, table 3-7).
  @inline(never)
  private static func isValidBeyondASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let count = bytes.count
    var index = 0
    while index < count {
      let lead = bytes[index]
      if lead < 0x80 {
        index &+= 1
        continue
      }
      let (length, second): (Int, ClosedRange<UInt8>)
      switch lead {
      case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
      case 0xE0: (length, second) = (3, 0xA0...0xBF)
      case 0xED: (length, second) = (3, 0x80...0x9F)
      case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
      case 0xF0: (length, second) = (4, 0x90...0xBF)
      case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
      case 0xF4: (length, second) = (4, 0x80...0x8F)
      default: return false
      }
      guard length <= count &- index, second.contains(bytes[index &+ 1]),
        bytes[(index &+ 2)..<(index &+ length)].allSatisfy({ $0 & 0xC0 == 0x80 })
      else { return false }
      index &+= length
    }
    return true
  }
}
