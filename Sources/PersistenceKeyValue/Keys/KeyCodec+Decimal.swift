import PersistenceDriver

/// Encodes decimals: a class (negative, zero, positive, NaN), the decimal exponent of `0.d₁d₂…`, and the
/// digits.
///
/// Each byte contains two digits plus one, and `00` terminates them. For a negative number, all but the class
/// is inverted.
extension KeyCodec {
  private enum Class {
    static let negative: UInt8 = 1
    static let zero: UInt8 = 2
    static let positive: UInt8 = 3
    static let notANumber: UInt8 = 4
  }

  private static let bias = 1 << 15

  static func appendDecimal(_ text: UnsafeBufferPointer<UInt8>, to key: ByteBuffer) throws {
    if text.elementsEqual("NaN".utf8) { return key.append(Class.notANumber) }
    let isNegative = text.first == UInt8(ascii: "-")
    let digits = text.dropFirst(isNegative ? 1 : 0)
    let point = digits.firstIndex(of: UInt8(ascii: ".")) ?? digits.endIndex
    guard !digits.isEmpty, point > digits.startIndex,
      digits.indices.allSatisfy({ $0 == point || isDigit(digits[$0]) }), digits.count < bias
    else { throw PersistenceError.damaged("the text of a decimal field is not a decimal number") }
    guard let first = digits.indices.first(where: { $0 != point && digits[$0] != UInt8(ascii: "0") }),
      let last = digits.indices.last(where: { $0 != point && digits[$0] != UInt8(ascii: "0") })
    else { return key.append(Class.zero) }
    key.append(isNegative ? Class.negative : Class.positive)
    let start = key.count
    let exponent = (first < point ? point - first : point - first + 1) + bias
    key.append(UInt8(truncatingIfNeeded: exponent >> 8))
    key.append(UInt8(truncatingIfNeeded: exponent))
    var high: UInt8?
    for index in first...last where index != point {
      let digit = digits[index] - UInt8(ascii: "0")
      if let pair = high {
        key.append(pair * 10 + digit + 1)
        high = nil
      } else {
        high = digit
      }
    }
    if let high { key.append(high * 10 + 1) }
    key.append(0)
    if isNegative { key.invert(from: start) }
  }

  /// The canonical text of the decimal at an index of a key; advances the index.
  static func decimalText(in key: UnsafeRawBufferPointer, at index: inout Int) throws -> String {
    let kind = try byte(in: key, at: &index)
    switch kind {
    case Class.zero: return "0"
    case Class.notANumber: return "NaN"
    case Class.negative, Class.positive: break
    default: throw malformed
    }
    let mask: UInt8 = kind == Class.negative ? 0xFF : 0
    let high = Int(try byte(in: key, at: &index) ^ mask)
    let exponent = (high << 8 | Int(try byte(in: key, at: &index) ^ mask)) - bias
    var digits: [UInt8] = []
    while true {
      let pair = try byte(in: key, at: &index) ^ mask
      if pair == 0 { break }
      guard pair <= 100 else { throw malformed }
      digits.append((pair - 1) / 10 + UInt8(ascii: "0"))
      digits.append((pair - 1) % 10 + UInt8(ascii: "0"))
    }
    if digits.last == UInt8(ascii: "0") { digits.removeLast() }
    guard abs(exponent) < 1 << 10 else { throw malformed }
    let zero = UInt8(ascii: "0")
    if exponent > digits.count {
      digits += [UInt8](repeating: zero, count: exponent - digits.count)
    } else if exponent > 0, exponent < digits.count {
      digits.insert(UInt8(ascii: "."), at: exponent)
    } else if exponent <= 0 {
      digits = [zero, UInt8(ascii: ".")] + [UInt8](repeating: zero, count: -exponent) + digits
    }
    return (mask == 0 ? "" : "-") + String(decoding: digits, as: UTF8.self)
  }

  /// Skips the class, the exponent and the digits of a decimal.
  static func skipDecimal(in key: UnsafeRawBufferPointer, at index: inout Int) throws {
    let kind = try byte(in: key, at: &index)
    guard kind == Class.negative || kind == Class.positive else { return }
    index += 2
    let last: UInt8 = kind == Class.negative ? 0xFF : 0
    while try byte(in: key, at: &index) != last {}
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
