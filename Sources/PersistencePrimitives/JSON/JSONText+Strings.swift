/// Texts as JSON strings.
extension JSONText {
  /// Appends text as a JSON string with a minimum of escapes.
  package static func append(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
    append(text, needsEscapes: TextScan(text).needsEscapes, to: &bytes)
  }

  static func append(_ text: UnsafeBufferPointer<UInt8>, needsEscapes: Bool, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    if needsEscapes { appendEscaped(text, to: &bytes) } else { bytes.append(contentsOf: text) }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func appendEscaped(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
    var start = 0
    for (index, byte) in text.enumerated()
    where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
      bytes.append(contentsOf: text[start..<index])
      start = index + 1
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x08: bytes.append(contentsOf: "\\b".utf8)
      case 0x09: bytes.append(contentsOf: "\\t".utf8)
      case 0x0A: bytes.append(contentsOf: "\\n".utf8)
      case 0x0C: bytes.append(contentsOf: "\\f".utf8)
      case 0x0D: bytes.append(contentsOf: "\\r".utf8)
      default:
        bytes.append(contentsOf: "\\u00".utf8)
        bytes.append(contentsOf: (byte < 0x10 ? "0" : "").utf8)
        bytes.append(contentsOf: String(byte, radix: 16).utf8)
      }
    }
    bytes.append(contentsOf: text[start...])
  }
}

/// What the bytes of a text are, eight at a time: most texts are copied as they are.
struct TextScan {
  /// Whether a byte is a control character, a quotation mark or a backslash.
  let needsEscapes: Bool
  /// Whether no byte is beyond ASCII.
  let isASCII: Bool

  init(_ text: UnsafeBufferPointer<UInt8>) {
    let bytes = UnsafeRawBufferPointer(text)
    let count = bytes.count
    var (marks, all): (UInt64, UInt64) = (0, 0)
    if count >= 8 {
      var offset = 0
      while offset &+ 8 < count {
        let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        marks |= Self.marks(word)
        all |= word
        offset &+= 8
      }
      // The last eight bytes may overlap those before.
      let word = bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
      marks |= Self.marks(word)
      all |= word
    } else {
      for byte in bytes {
        // Seven spaces, which are no marks, fill the word.
        marks |= Self.marks(0x2020_2020_2020_2000 | UInt64(byte))
        all |= UInt64(byte)
      }
    }
    needsEscapes = marks != 0
    isASCII = all & 0x8080_8080_8080_8080 == 0
  }

  /// Zero if none of eight bytes needs an escape.
  ///
  /// A difference shows in its high bit that a byte is too small (Sean Eron Anderson, “Bit Twiddling Hacks”, `hasless` and
  /// `haszero`); no byte can hide another one, which it could only make to look too small.
  private static func marks(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ 0x2222_2222_2222_2222
    let backslashes = word ^ 0x5C5C_5C5C_5C5C_5C5C
    let isControl = (word &- 0x2020_2020_2020_2020) & ~word
    let isQuote = (quotes &- ones) & ~quotes
    let isBackslash = (backslashes &- ones) & ~backslashes
    return (isControl | isQuote | isBackslash) & 0x8080_8080_8080_8080
  }
}
