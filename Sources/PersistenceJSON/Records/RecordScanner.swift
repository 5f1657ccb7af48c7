import Foundation
import PersistenceDriver
import PersistencePrimitives

/// Reads record files in canonical form, without building a tree.
///
/// It stops at the first byte in any other form. ``RecordText`` then parses the text, with the lenient
/// profile, and reports errors. Both read the same values from text that the scanner accepts.
struct RecordScanner {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0

  /// Fills a row from text; returns whether the text is canonical.
  ///
  /// If it is not, the row's content is undefined.
  static func fill(_ row: RowBuffer, from text: [UInt8], by layout: RecordLayout) -> Bool {
    fill(row, from: text, layout.form)
  }

  /// Fills a row from text with the members of an earlier schema; returns whether the text is canonical.
  static func fill(
    _ row: RowBuffer, from text: [UInt8], by layout: RecordLayout, _ earlier: EarlierMembers
  ) -> Bool {
    for past in earlier.forms where fill(row, from: text, past.form) {
      for (position, value) in past.fills { row.set(value, at: position) }
      return true
    }
    return false
  }

  @inline(__always)
  private static func fill(_ row: RowBuffer, from text: [UInt8], _ form: RecordForm) -> Bool {
    row.reset()
    return text.withUnsafeBufferPointer { bytes in
      form.bytes.withUnsafeBufferPointer { expected in
        var scanner = RecordScanner(bytes: bytes)
        guard var next = expected.baseAddress else { return false }
        for member in form.members {
          guard scanner.skip(member.prefixCount, of: next), scanner.fill(row, member) else { return false }
          next += member.prefixCount
        }
        return scanner.skip(form.endCount, of: next) && scanner.position == bytes.count
      }
    }
  }

  private init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// Skips expected bytes; returns whether they are next.
  private mutating func skip(_ count: Int, of expected: UnsafePointer<UInt8>) -> Bool {
    guard bytes.count - position >= count, let base = bytes.baseAddress,
      memcmp(base + position, expected, count) == 0
    else { return false }
    position += count
    return true
  }

  private mutating func skip(_ expected: StaticString) -> Bool {
    skip(expected.utf8CodeUnitCount, of: expected.utf8Start)
  }

  private mutating func fill(_ row: RowBuffer, _ member: RecordForm.Member) -> Bool {
    guard position < bytes.count else { return false }
    if bytes[position] == UInt8(ascii: "n") { return member.isOptional && skip("null") }
    switch member.kind {
    case .bool:
      let truth = bytes[position] == UInt8(ascii: "t")
      guard skip(truth ? "true" : "false") else { return false }
      row.setCell(.bool(truth), at: member.position)
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
      guard let number = integer(), let range = member.kind.integerRange, range.contains(number) else {
        return false
      }
      row.setCell(.integer(number), at: member.position)
    case .double:
      guard let number = double() else { return false }
      row.setCell(.double(number), at: member.position)
    case .string, .url: return fillText(row, member)
    case .date:
      guard let text = plainText(), let seconds = DateText.seconds(text) else { return false }
      row.setCell(.date(seconds), at: member.position)
    case .uuid:
      guard let text = plainText(), let uuid = UUID(utf8: text) else { return false }
      row.setCell(.uuid(uuid), at: member.position)
    case .float, .decimal, .data, .document: return fillTree(row, member)
    }
    return true
  }

  /// Copies text without escapes; parses any other text.
  private mutating func fillText(_ row: RowBuffer, _ member: RecordForm.Member) -> Bool {
    let start = position
    guard let text = plainText() else {
      position = start
      return fillTree(row, member)
    }
    row.setCopy(of: .text(UnsafeRawBufferPointer(text)), at: member.position)
    return true
  }

  private mutating func fillTree(_ row: RowBuffer, _ member: RecordForm.Member) -> Bool {
    guard let value = tree(), let stored = RecordText.value(value, member.kind) else { return false }
    row.set(stored, at: member.position)
    return true
  }

  /// The value at this position; nil for null, white space or invalid JSON.
  private mutating func tree() -> JSONValue? {
    // The parser would skip a byte-order mark here, which is only valid at the beginning of a file.
    guard bytes[position] > 0x20, bytes[position] < 0x80, bytes[position] != UInt8(ascii: "n") else {
      return nil
    }
    var parser = JSONParser(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[position...])))
    guard let value = try? parser.parseValue() else { return nil }
    position += parser.position
    return value
  }

  /// The bytes of a string without escapes, in valid UTF-8; nil for any other value.
  private mutating func plainText() -> UnsafeBufferPointer<UInt8>? {
    guard bytes[position] == UInt8(ascii: "\""), let base = bytes.baseAddress else { return nil }
    let start = position + 1
    var end = start
    var isASCII = true
    while end < bytes.count {
      while end + 8 <= bytes.count,
        Self.isPlain(UnsafeRawPointer(base + end).loadUnaligned(as: UInt64.self))
      {
        end += 8
      }
      guard end < bytes.count else { return nil }
      let byte = bytes[end]
      if byte == UInt8(ascii: "\"") { break }
      if byte == UInt8(ascii: "\\") || byte < 0x20 { return nil }
      if byte >= 0x80 { isASCII = false }
      end += 1
    }
    guard end < bytes.count else { return nil }
    let text = UnsafeBufferPointer(rebasing: bytes[start..<end])
    guard isASCII || String(validating: text, as: UTF8.self) != nil else { return nil }
    position = end + 1
    return text
  }

  /// Whether eight bytes are ASCII without quotation marks, backslashes and control characters.
  ///
  /// Each test sets the high bit of a byte that it finds (after Alan Mycroft's test for a zero byte). The
  /// byte after a match may be a false match, which is harmless here.
  private static func isPlain(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5C)
    let control = (word &- ones &* 0x20) & ~word
    let found = word | control | ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)
    return found & (ones &* 0x80) == 0
  }

  private func digit(_ position: Int) -> Int64? {
    guard position < bytes.count, bytes[position] >= UInt8(ascii: "0"), bytes[position] <= UInt8(ascii: "9")
    else {
      return nil
    }
    return Int64(bytes[position] - UInt8(ascii: "0"))
  }

  /// A number without decimal point and exponent; nil for any other, and for one beyond 64 bits.
  private mutating func integer() -> Int64? {
    let isNegative = bytes[position] == UInt8(ascii: "-")
    let start = position + (isNegative ? 1 : 0)
    var end = start
    var number: Int64 = 0
    while let digit = digit(end) {
      let (tens, overflow) = number.multipliedReportingOverflow(by: 10)
      let (next, overflowToo) =
        isNegative ? tens.subtractingReportingOverflow(digit) : tens.addingReportingOverflow(digit)
      if overflow || overflowToo { return nil }
      number = next
      end += 1
    }
    guard end > start, end == start + 1 || bytes[start] != UInt8(ascii: "0") else { return nil }
    position = end
    return number
  }

  private mutating func double() -> Double? {
    let start = position
    let isNegative = bytes[position] == UInt8(ascii: "-")
    if let whole = integer(), whole != 0 || !isNegative {
      let next = position < bytes.count ? bytes[position] : 0
      if next == UInt8(ascii: ",") || next == UInt8(ascii: "\n"),
        let number = ShortDecimal.double(whole, exponent: 0)
      {
        return number
      }
      if next == UInt8(ascii: ".") {
        var mantissa = whole
        var end = position + 1
        while let digit = digit(end), mantissa.magnitude < 1 << 53 {
          mantissa = mantissa * 10 + (isNegative ? -digit : digit)
          end += 1
        }
        let after = end < bytes.count ? bytes[end] : 0
        if end > position + 1, after == UInt8(ascii: ",") || after == UInt8(ascii: "\n"),
          let number = ShortDecimal.double(mantissa, exponent: position + 1 - end)
        {
          position = end
          return number
        }
      }
    }
    position = start
    guard case .number(let text) = tree(), let number = Double(decimal: text) else { return nil }
    return number
  }
}

extension UUID {
  /// Reads the 36 characters of a UUID without a string; nil for any other text.
  fileprivate init?(utf8 text: UnsafeBufferPointer<UInt8>) {
    guard text.count == 36 else { return nil }
    var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    let isValid = withUnsafeMutableBytes(of: &bytes) { bytes in
      var next = 0
      for index in 0..<16 {
        if index == 4 || index == 6 || index == 8 || index == 10 {
          guard text[next] == UInt8(ascii: "-") else { return false }
          next += 1
        }
        guard let high = Self.digit(text[next]), let low = Self.digit(text[next + 1]) else { return false }
        bytes[index] = high << 4 | low
        next += 2
      }
      return true
    }
    guard isValid else { return nil }
    self.init(uuid: bytes)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
