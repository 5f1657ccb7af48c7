/// Reading and writing one Unicode scalar in UTF-8.
///
/// The functions require valid UTF-8. Invalid bytes give meaningless scalars, but never a read outside the
/// text.
enum ScalarCoding {
  /// The scalar at `index`, and the index after it.
  @inline(__always)
  static func decode(
    _ bytes: UnsafePointer<UInt8>, at index: Int, end: Int
  ) -> (scalar: UInt32, next: Int) {
    let lead = UInt32(bytes[index])
    if lead < 0x80 { return (lead, index &+ 1) }
    let length = lead < 0xE0 ? 2 : (lead < 0xF0 ? 3 : 4)
    guard length <= end &- index else { return (0xFFFD, index &+ 1) }
    let second = UInt32(bytes[index &+ 1] & 0x3F)
    if length == 2 { return ((lead & 0x1F) << 6 | second, index &+ 2) }
    let third = UInt32(bytes[index &+ 2] & 0x3F)
    if length == 3 { return ((lead & 0x0F) << 12 | second << 6 | third, index &+ 3) }
    let fourth = UInt32(bytes[index &+ 3] & 0x3F)
    return ((lead & 0x07) << 18 | second << 12 | third << 6 | fourth, index &+ 4)
  }

  /// The index after the scalar at `index`.
  @inline(__always)
  static func index(after index: Int, in bytes: UnsafePointer<UInt8>, end: Int) -> Int {
    let lead = bytes[index]
    if lead < 0x80 { return index &+ 1 }
    return min(end, index &+ (lead < 0xE0 ? 2 : (lead < 0xF0 ? 3 : 4)))
  }

  /// The index of the scalar before `index`, which is greater than `start`.
  @inline(__always)
  static func index(before index: Int, in bytes: UnsafePointer<UInt8>, start: Int) -> Int {
    var index = index &- 1
    while index > start, bytes[index] & 0xC0 == 0x80 { index &-= 1 }
    return index
  }

  /// Writes a scalar's UTF-8 and returns its length; the buffer must have four bytes left.
  @inline(__always)
  static func encode(_ scalar: UInt32, to bytes: UnsafeMutablePointer<UInt8>) -> Int {
    if scalar < 0x80 {
      bytes[0] = UInt8(truncatingIfNeeded: scalar)
      return 1
    }
    let last = UInt8(truncatingIfNeeded: scalar & 0x3F | 0x80)
    if scalar < 0x800 {
      bytes[0] = UInt8(truncatingIfNeeded: scalar >> 6 | 0xC0)
      bytes[1] = last
      return 2
    }
    let beforeLast = UInt8(truncatingIfNeeded: scalar >> 6 & 0x3F | 0x80)
    if scalar < 0x10000 {
      bytes[0] = UInt8(truncatingIfNeeded: scalar >> 12 | 0xE0)
      bytes[1] = beforeLast
      bytes[2] = last
      return 3
    }
    bytes[0] = UInt8(truncatingIfNeeded: scalar >> 18 & 0x07 | 0xF0)
    bytes[1] = UInt8(truncatingIfNeeded: scalar >> 12 & 0x3F | 0x80)
    bytes[2] = beforeLast
    bytes[3] = last
    return 4
  }
}
