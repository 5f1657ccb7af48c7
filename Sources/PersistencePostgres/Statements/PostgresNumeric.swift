/// The binary format of `numeric`: digits of base 10,000 with the weight of the first.
enum PostgresNumeric {
  private static let nan: UInt16 = 0xC000
  private static let negative: UInt16 = 0x4000

  /// The canonical text of a number; nil if the bytes are malformed, or an infinity.
  static func canonicalText(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
    func word(_ index: Int) -> UInt16 {
      UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
    }
    guard bytes.count >= 8 else { return nil }
    let (count, weight, sign) = (Int(word(0)), Int(Int16(bitPattern: word(1))), word(2))
    guard sign != nan else { return Array("NaN".utf8) }
    guard sign == 0 || sign == negative, bytes.count == 8 + 2 * count else { return nil }
    func digit(_ index: Int) -> Int { index >= 0 && index < count ? Int(word(4 + index)) : 0 }
    var text: [UInt8] = sign == negative ? [UInt8(ascii: "-")] : []
    let start = text.count
    if weight < 0 {
      text.append(UInt8(ascii: "0"))
    } else {
      for index in 0...weight { append(digit(index), to: &text, isPadded: index > 0) }
      while text.count > start + 1, text[start] == UInt8(ascii: "0") { text.remove(at: start) }
    }
    guard count > weight + 1 else { return isZero(text[start...]) ? [UInt8(ascii: "0")] : text }
    text.append(UInt8(ascii: "."))
    for index in weight + 1..<count { append(digit(index), to: &text, isPadded: true) }
    while text.last == UInt8(ascii: "0") { text.removeLast() }
    if text.last == UInt8(ascii: ".") { text.removeLast() }
    return isZero(text[start...]) ? [UInt8(ascii: "0")] : text
  }

  private static func isZero(_ digits: ArraySlice<UInt8>) -> Bool {
    digits.allSatisfy { $0 == UInt8(ascii: "0") }
  }

  private static func append(_ digit: Int, to text: inout [UInt8], isPadded: Bool) {
    var divisor = 1_000
    var isLeading = !isPadded
    while divisor > 0 {
      let decimal = digit / divisor % 10
      divisor /= 10
      if isLeading, decimal == 0, divisor > 0 { continue }
      isLeading = false
      text.append(UInt8(ascii: "0") + UInt8(decimal))
    }
  }
}
