extension JSONParser {
  /// Reads a string; the next byte is its opening quotation mark.
  mutating func parseString() throws(JSONSyntaxError) -> String {
    let start = position
    position += 1
    let content = position
    // Most strings have no escapes: one validation checks them.
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        guard let text = String(validating: bytes[content..<position], as: UTF8.self) else {
          throw failure("the string is not valid UTF-8", at: content)
        }
        position += 1
        return text
      case UInt8(ascii: "\\"): return try parseEscapedString(from: content)
      case 0..<0x20: throw failure("a control character in a string must be escaped")
      default: position += 1
      }
    }
    throw failure("the string has no end", at: start)
  }

  private mutating func parseEscapedString(from content: Int) throws(JSONSyntaxError) -> String {
    var buffer = [UInt8](bytes[content..<position])
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        guard let text = String(validating: buffer, as: UTF8.self) else {
          throw failure("the string is not valid UTF-8", at: content)
        }
        position += 1
        return text
      case UInt8(ascii: "\\"): try parseEscape(into: &buffer)
      case 0..<0x20: throw failure("a control character in a string must be escaped")
      case let byte:
        buffer.append(byte)
        position += 1
      }
    }
    throw failure("the string has no end", at: content - 1)
  }

  private mutating func parseEscape(into buffer: inout [UInt8]) throws(JSONSyntaxError) {
    let start = position
    position += 1
    guard position < bytes.count else { throw failure("the string has no end", at: start) }
    let byte = bytes[position]
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): buffer.append(byte)
    case UInt8(ascii: "b"): buffer.append(0x08)
    case UInt8(ascii: "f"): buffer.append(0x0C)
    case UInt8(ascii: "n"): buffer.append(0x0A)
    case UInt8(ascii: "r"): buffer.append(0x0D)
    case UInt8(ascii: "t"): buffer.append(0x09)
    case UInt8(ascii: "u"):
      var code = try parseHexadecimal()
      if code & 0xFC00 == 0xD800 {
        guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
          bytes[position + 1] == UInt8(ascii: "u")
        else { throw failure("an unpaired surrogate", at: start) }
        position += 2
        let low = try parseHexadecimal()
        guard low & 0xFC00 == 0xDC00 else { throw failure("an unpaired surrogate", at: start) }
        code = 0x10000 + (code & 0x3FF) << 10 + (low & 0x3FF)
      }
      guard let scalar = Unicode.Scalar(code) else { throw failure("an unpaired surrogate", at: start) }
      buffer.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    default: throw failure("unknown escape sequence", at: start)
    }
  }

  private mutating func parseHexadecimal() throws(JSONSyntaxError) -> UInt32 {
    guard position + 4 <= bytes.count else { throw failure("four hexadecimal digits were expected") }
    var code: UInt32 = 0
    for byte in bytes[position..<position + 4] {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): code = code << 4 | UInt32(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): code = code << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
      case UInt8(ascii: "A")...UInt8(ascii: "F"): code = code << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
      default: throw failure("four hexadecimal digits were expected")
      }
    }
    position += 4
    return code
  }
}
