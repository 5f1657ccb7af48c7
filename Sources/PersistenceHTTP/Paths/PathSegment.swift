/// Percent-encoding of one path segment, or one query value.
package enum PathSegment {
  /// The encoded text: only ASCII letters, digits, `-`, `_`, `~` and most dots stay literal.
  package static func escaped(_ text: String) -> String {
    var bytes: [UInt8] = []
    // A segment of only dots would refer to a parent folder.
    let isDots = text.utf8.allSatisfy { $0 == UInt8(ascii: ".") }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"): bytes.append(byte)
      case UInt8(ascii: ".") where !isDots: bytes.append(byte)
      case _ where byte.isLetterOrDigit: bytes.append(byte)
      default:
        bytes.append(UInt8(ascii: "%"))
        bytes.append(contentsOf: [digits[Int(byte >> 4)], digits[Int(byte & 15)]])
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The decoded text; nil if an escape is malformed, or the bytes are not UTF-8.
  package static func text(_ segment: Substring, plusIsSpace: Bool = false) -> String? {
    // Most segments have nothing to decode, and are UTF-8 as every text is.
    let isLiteral = segment.utf8.allSatisfy { byte in
      byte != UInt8(ascii: "%") && !(plusIsSpace && byte == UInt8(ascii: "+"))
    }
    if isLiteral { return String(segment) }
    var bytes: [UInt8] = []
    var iterator = segment.utf8.makeIterator()
    while let byte = iterator.next() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = iterator.next().flatMap(value), let low = iterator.next().flatMap(value) else {
          return nil
        }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static let digits = Array("0123456789ABCDEF".utf8)

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

extension UInt8 {
  /// Whether the byte is an ASCII letter or digit.
  var isLetterOrDigit: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}
