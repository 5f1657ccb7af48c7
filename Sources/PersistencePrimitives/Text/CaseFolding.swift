/// The one case-insensitive comparison of text: each scalar's own Unicode lower-case mapping (contract V7).
///
/// `Unicode.Scalar.Properties.lowercaseMapping` maps each scalar on its own, without a locale and without
/// context such as the final sigma (Σ is always σ, so ς and σ differ). A mapping may have several scalars (İ,
/// U+0130, becomes i and U+0307). "ß" and "ss" differ, since this is lower-casing and not full case folding.
/// The mapping's data come with the standard library. So data that outlives the process, such as an index of
/// folded text, records ``mappingFingerprint``.
public enum CaseFolding {
  /// The maximum length of a scalar's mapping in bytes: Unicode maps to at most three scalars of four bytes.
  static let longestMapping = 12

  /// Replaces the content of `output` with the lower-cased text; linear.
  package static func lowercased(_ utf8: UnsafeBufferPointer<UInt8>, into output: inout [UInt8]) {
    output.removeAll(keepingCapacity: true)
    appendLowercased(utf8, to: &output)
  }

  /// Appends the lower-cased text to `output`; linear.
  package static func appendLowercased(_ utf8: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
    guard !utf8.isEmpty else { return }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: min(1024, roomNeeded(for: utf8.count))) { chunk in
      var position = 0
      while position < utf8.count {
        let written = fold(utf8, from: &position, into: chunk)
        output.append(contentsOf: UnsafeBufferPointer(rebasing: chunk[..<written]))
      }
    }
  }

  package static func lowercased(_ text: String) -> String {
    String(decoding: lowercasedBytes(text), as: UTF8.self)
  }

  static func lowercasedBytes(_ text: String) -> [UInt8] {
    var text = text
    var bytes: [UInt8] = []
    text.withUTF8 { appendLowercased($0, to: &bytes) }
    return bytes
  }

  /// Passes the lower-cased text to `body`, in stack memory if it is short.
  static func withLowercased<Result>(
    _ text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: roomNeeded(for: text.count)) { buffer in
      var position = 0
      let written = fold(text, from: &position, into: buffer)
      if position == text.count { return body(UnsafeBufferPointer(rebasing: buffer[..<written])) }
      // A later Unicode version may have mappings that grow text by more than a half.
      var bytes: [UInt8] = []
      appendLowercased(text, to: &bytes)
      return bytes.withUnsafeBufferPointer(body)
    }
  }

  /// Lower-cases scalars from `position` on until the text ends or `buffer` might not hold the next mapping.
  /// - Returns: The number of bytes written; `position` is moved to the first scalar that was not mapped.
  static func fold(
    _ text: UnsafeBufferPointer<UInt8>, from position: inout Int,
    into buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> Int {
    guard let source = text.baseAddress, let target = buffer.baseAddress else { return 0 }
    return lowMappings.withUnsafeBufferPointer { lowMappings in
      let end = text.count
      let room = buffer.count - longestMapping
      var index = position
      var written = 0
      while index < end, written <= room {
        if index &+ 8 <= end {
          let word = UnsafeRawPointer(source).loadUnaligned(fromByteOffset: index, as: UInt64.self)
          if word & 0x8080_8080_8080_8080 == 0 {
            UnsafeMutableRawPointer(target).storeBytes(
              of: lowercasedASCII(word), toByteOffset: written, as: UInt64.self)
            index &+= 8
            written &+= 8
            continue
          }
        }
        let byte = source[index]
        if byte < 0x80 {
          target[written] = lowercasedASCII(byte)
          index &+= 1
          written &+= 1
          continue
        }
        let (scalar, next) = ScalarCoding.decode(source, at: index, end: end)
        index = next
        if scalar < lowMappings.count, lowMappings[Int(scalar)] != expands {
          written &+= ScalarCoding.encode(lowMappings[Int(scalar)], to: target + written)
        } else {
          written &+= writeMapping(of: scalar, to: target + written)
        }
      }
      position = index
      return written
    }
  }

  /// Writes the UTF-8 of a scalar's mapping; the buffer must have ``longestMapping`` bytes left.
  static func writeMapping(of scalar: UInt32, to target: UnsafeMutablePointer<UInt8>) -> Int {
    let mapped = lowercased(scalar: scalar)
    if mapped != expands { return ScalarCoding.encode(mapped, to: target) }
    var written = 0
    for scalar in Unicode.Scalar(scalar)?.properties.lowercaseMapping.unicodeScalars.prefix(3)
      ?? "".unicodeScalars.prefix(0)
    {
      written += ScalarCoding.encode(scalar.value, to: target + written)
    }
    return written
  }

  @inline(__always)
  static func lowercasedASCII(_ byte: UInt8) -> UInt8 {
    byte &- 0x41 < 26 ? byte | 0x20 : byte
  }

  /// The lower-case form of eight ASCII bytes at once.
  @inline(__always)
  private static func lowercasedASCII(_ word: UInt64) -> UInt64 {
    let fromA = word &+ 0x3F3F_3F3F_3F3F_3F3F
    let aboveZ = word &+ 0x2525_2525_2525_2525
    return word | ((fromA ^ aboveZ) & 0x8080_8080_8080_8080) >> 2
  }

  /// A capacity for the lower-cased text: today's mappings grow text by at most a half (two bytes to three).
  private static func roomNeeded(for count: Int) -> Int { count + count / 2 + longestMapping }
}
