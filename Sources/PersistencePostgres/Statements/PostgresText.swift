import Foundation

/// Text as PostgreSQL can store it: U+0000 becomes 01 01, and U+0001 becomes 01 02.
///
/// The order of the bytes stays that of the scalars, and prefixes stay prefixes (contract V3).
enum PostgresText {
  /// Whether text contains a scalar that is escaped.
  @inline(__always)
  static func needsEscape(_ text: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    let count = text.count
    while index &+ 8 <= count {
      let word = text.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      // A byte below 2 borrows from its highest bit.
      if (word &- 0x0202_0202_0202_0202) & ~word & 0x8080_8080_8080_8080 != 0 { return true }
      index &+= 8
    }
    while index < count {
      if text[index] < 2 { return true }
      index &+= 1
    }
    return false
  }

  /// Appends text with escapes.
  static func append(_ text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    guard needsEscape(text) else { return bytes.append(contentsOf: text) }
    for byte in text {
      if byte < 2 {
        bytes.append(1)
        bytes.append(byte + 1)
      } else {
        bytes.append(byte)
      }
    }
  }

  static func escaped(_ text: String) -> String {
    var bytes: [UInt8] = []
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0), to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The number of bytes that text takes in the store.
  static func storedCount(of text: UnsafeRawBufferPointer) -> Int {
    needsEscape(text) ? text.reduce(0) { $0 + ($1 < 2 ? 2 : 1) } : text.count
  }

  /// Whether stored text contains an escape.
  @inline(__always)
  static func hasEscape(_ stored: UnsafeRawBufferPointer) -> Bool {
    guard let start = stored.baseAddress else { return false }
    return memchr(start, 1, stored.count) != nil
  }

  /// The text without its escapes; nil if they are malformed.
  static func unescaped(_ stored: UnsafeRawBufferPointer) -> [UInt8]? {
    var text: [UInt8] = []
    text.reserveCapacity(stored.count)
    var index = 0
    while index < stored.count {
      let byte = stored[index]
      index += 1
      guard byte == 1 else {
        text.append(byte)
        continue
      }
      guard index < stored.count, stored[index] == 1 || stored[index] == 2 else { return nil }
      text.append(stored[index] - 1)
      index += 1
    }
    return text
  }
}
