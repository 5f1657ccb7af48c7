package import Foundation

/// Room on the stack for the pieces of a record's text, which an array then takes at once.
///
/// An array checks its references and its room for each piece that is appended; a record has dozens of pieces.
/// Values are written in their canonical spellings, without a text of their own for each.
@usableFromInline
package struct JSONPieces {
  /// The size of the room in bytes; a longer piece goes to the array at once.
  @inlinable package static var capacity: Int { 1024 }

  private let room: UnsafeMutablePointer<UInt8>
  private var count = 0

  /// Creates pieces in a room of at least ``capacity`` bytes.
  package init(_ room: UnsafeMutablePointer<UInt8>) { self.room = room }

  /// Moves all pieces to the end of the array.
  package mutating func flush(to bytes: inout [UInt8]) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: room, count: count))
    count = 0
  }

  /// The place of the next piece, which the caller fills; its size is at most the capacity.
  private mutating func place(_ size: Int, _ bytes: inout [UInt8]) -> UnsafeMutablePointer<UInt8> {
    if size > Self.capacity - count { flush(to: &bytes) }
    let place = room + count
    count += size
    return place
  }

  package mutating func append(_ byte: UInt8, to bytes: inout [UInt8]) { place(1, &bytes)[0] = byte }

  package mutating func append(_ piece: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
    guard piece.count <= Self.capacity, let source = piece.baseAddress else {
      flush(to: &bytes)
      bytes.append(contentsOf: piece)
      return
    }
    place(piece.count, &bytes).update(from: source, count: piece.count)
  }

  /// Appends text that is JSON already.
  package mutating func append(json text: StaticString, to bytes: inout [UInt8]) {
    append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount), to: &bytes)
  }
}

extension JSONPieces {
  /// Appends an integer.
  package mutating func append(integer: Int64, to bytes: inout [UInt8]) {
    let sign = integer < 0 ? 1 : 0
    var rest = integer.magnitude
    let size = sign + Self.digits(rest)
    let first = place(size, &bytes)
    var next = size
    // Two digits with each division, from the end.
    while rest >= 10 {
      let pair = UInt8(truncatingIfNeeded: rest % 100)
      rest /= 100
      next -= 2
      first[next] = UInt8(ascii: "0") + pair / 10
      first[next + 1] = UInt8(ascii: "0") + pair % 10
    }
    // The first one of an odd number of digits is left.
    if next > sign { first[sign] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest) }
    if sign > 0 { first[0] = UInt8(ascii: "-") }
  }

  /// How many digits the magnitude of an integer has: at most 19.
  private static func digits(_ magnitude: UInt64) -> Int {
    var (digits, power): (Int, UInt64) = (1, 10)
    while magnitude >= power {
      digits += 1
      power *= 10
    }
    return digits
  }

  /// Appends a double as its shortest text: −0.0 as 0.0, and NaN and the infinities as strings.
  package mutating func append(double: Double, to bytes: inout [UInt8]) {
    let number = TotalOrder.normalized(double)
    // A whole number below 2^53 has no shorter text than all its digits.
    if number.magnitude < 0x1p53, let whole = Int64(exactly: number) {
      append(integer: whole, to: &bytes)
      append(json: ".0", to: &bytes)
    } else if let special = SpecialNumber.text(number) {
      append(UInt8(ascii: "\""), to: &bytes)
      append(string: special, to: &bytes)
      append(UInt8(ascii: "\""), to: &bytes)
    } else {
      append(string: number.description, to: &bytes)
    }
  }

  private mutating func append(string text: String, to bytes: inout [UInt8]) {
    var text = text
    text.withUTF8 { append($0, to: &bytes) }
  }

  /// Appends a date, in seconds since 2001, as the string of ``DateText``.
  package mutating func append(date: Double, to bytes: inout [UInt8]) {
    let seconds = TotalOrder.normalized(date)
    guard let characters = DateText.characters(seconds) else {
      append(UInt8(ascii: "\""), to: &bytes)
      append(string: DateText.text(seconds), to: &bytes)
      append(UInt8(ascii: "\""), to: &bytes)
      return
    }
    let text = place(22, &bytes)
    text[0] = UInt8(ascii: "\"")
    let raw = UnsafeMutableRawPointer(text)
    raw.storeBytes(of: characters.0, toByteOffset: 1, as: UInt64.self)
    raw.storeBytes(of: characters.1, toByteOffset: 9, as: UInt64.self)
    raw.storeBytes(of: characters.2, toByteOffset: 17, as: UInt32.self)
    text[21] = UInt8(ascii: "\"")
  }

  /// Appends a UUID as a string in upper case.
  package mutating func append(uuid: UUID, to bytes: inout [UInt8]) {
    let text = place(38, &bytes)
    text[0] = UInt8(ascii: "\"")
    var next = 1
    withUnsafeBytes(of: uuid.uuid) { digits in
      for (position, byte) in digits.enumerated() {
        let startsGroup = position == 4 || position == 6 || position == 8 || position == 10
        if startsGroup {
          text[next] = UInt8(ascii: "-")
          next += 1
        }
        text[next] = Self.hexadecimalDigit(byte >> 4)
        text[next + 1] = Self.hexadecimalDigit(byte & 15)
        next += 2
      }
    }
    text[37] = UInt8(ascii: "\"")
  }

  private static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }

  /// Appends bytes as a string in Base64.
  package mutating func append(base64 data: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    append(UInt8(ascii: "\""), to: &bytes)
    flush(to: &bytes)
    Base64Text.append(data, .standard, to: &bytes)
    append(UInt8(ascii: "\""), to: &bytes)
  }

  /// Appends text as a JSON string; text that is not UTF-8 is repaired.
  package mutating func append(text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
    let scan = TextScan(text)
    guard scan.isASCII, !scan.needsEscapes, text.count + 2 <= Self.capacity, let source = text.baseAddress
    else {
      flush(to: &bytes)
      if scan.isASCII {
        JSONText.append(text, needsEscapes: scan.needsEscapes, to: &bytes)
      } else {
        var repaired = String(decoding: text, as: UTF8.self)
        repaired.withUTF8 { JSONText.append($0, to: &bytes) }
      }
      return
    }
    let place = place(text.count + 2, &bytes)
    place[0] = UInt8(ascii: "\"")
    (place + 1).update(from: source, count: text.count)
    place[text.count + 1] = UInt8(ascii: "\"")
  }
}
