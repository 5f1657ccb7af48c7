import Foundation
package import PersistenceDriver

/// Encodes values as bytes in the contract's order (V3 to V4a, O3).
///
/// The format follows FoundationDB's tuple layer (`design/tuple.md` there). A component is a type code and a
/// value. Text and bytes escape `00` as `00 FF` and end with `00`; integers are big-endian with the sign bit
/// flipped; doubles use ``TotalOrder/key(_:)``; decimals consist of sign, exponent and digits. Every
/// component determines its own end, so components follow each other directly. No code is `00` or `FF`, so no
/// code can be mistaken for a part of an escape, in either direction. A descending component is the ascending
/// one with all bytes inverted.
package enum KeyCodec {
  /// The code of nil, which is less than all others.
  static let nilCode: UInt8 = 0x01

  /// A byte greater than every code: it follows all keys with the same components.
  static let afterAll: UInt8 = 0xFF

  /// The terminator of a sort key: greater than the second byte of an inverted escape, less than that of an
  /// escape.
  static let afterLast: UInt8 = 0x80

  /// The code of a kind of value.
  static func code(of tag: RowCell.Tag) -> UInt8 { tag.rawValue + nilCode }

  /// Appends a cell; throws if the text of a decimal is invalid.
  package static func append(cell: RowCell, isDescending: Bool = false, to key: ByteBuffer) throws {
    let start = key.count
    key.append(code(of: cell.tag))
    switch cell.tag {
    case .null: break
    case .bool: key.append(cell.boolValue ? 1 : 0)
    case .integer: key.append(bigEndian: UInt64(bitPattern: cell.integerValue) ^ (1 << 63))
    case .double, .date: key.append(bigEndian: TotalOrder.key(cell.doubleValue))
    case .text, .bytes, .document:
      key.append(escaping: cell.borrowedBytes)
      key.append(0)
    case .uuid: withUnsafeBytes(of: cell.uuidValue.uuid) { key.append($0) }
    case .decimal: try appendDecimal(cell.borrowedText, to: key)
    }
    if isDescending { key.invert(from: start) }
  }

  /// Appends a value; throws if a decimal has no text.
  package static func append(value: PersistentValue, to key: ByteBuffer) throws {
    switch value {
    case .null: try append(cell: .null, to: key)
    case .bool(let value): try append(cell: .bool(value), to: key)
    case .integer(let value): try append(cell: .integer(value), to: key)
    case .double(let value): try append(cell: .double(value), to: key)
    case .date(let value): try append(cell: .date(value), to: key)
    case .uuid(let value): try append(cell: .uuid(value), to: key)
    case .bytes(let value): try value.withUnsafeBytes { try append(cell: .bytes($0), to: key) }
    case .text(let value): append(value, .text, to: key)
    case .document(let value): append(value, .document, to: key)
    case .decimal(let value):
      var text = value.canonicalText
      try text.withUTF8 { try append(cell: .decimal(UnsafeRawBufferPointer($0)), to: key) }
    }
  }

  /// Appends a text or document, whose bytes are read in place: every lookup by a text appends one.
  private static func append(_ text: String, _ tag: RowCell.Tag, to key: ByteBuffer) {
    key.append(code(of: tag))
    let isAppended: Void? = text.utf8.withContiguousStorageIfAvailable {
      key.append(escaping: UnsafeRawBufferPointer($0))
    }
    if isAppended == nil {
      var text = text
      text.withUTF8 { key.append(escaping: UnsafeRawBufferPointer($0)) }
    }
    key.append(0)
  }

  /// Appends the common prefix of all texts with a prefix.
  static func append(textBeginningWith prefix: String, to key: ByteBuffer) {
    var prefix = prefix
    key.append(code(of: .text))
    prefix.withUTF8 { key.append(escaping: UnsafeRawBufferPointer($0)) }
  }

  /// The bytes of consecutive values.
  package static func bytes(of values: some Sequence<PersistentValue>) throws -> [UInt8] {
    let buffer = ByteBuffer()
    for value in values { try append(value: value, to: buffer) }
    return buffer.array
  }
}

extension KeyCodec {
  static var malformed: PersistenceError { .damaged("a key contains malformed values") }

  /// Decodes consecutive ascending components, up to a limit; throws if the bytes are no key.
  package static func values(in key: UnsafeRawBufferPointer, limit: Int = .max) throws -> [PersistentValue] {
    var values: [PersistentValue] = []
    var index = 0
    while index < key.count, values.count < limit { values.append(try value(in: key, at: &index)) }
    return values
  }

  private static func value(in key: UnsafeRawBufferPointer, at index: inout Int) throws -> PersistentValue {
    let code = try byte(in: key, at: &index)
    guard code >= nilCode, let tag = RowCell.Tag(rawValue: code - nilCode) else { throw malformed }
    switch tag {
    case .null: return .null
    case .bool:
      let truth = try byte(in: key, at: &index)
      guard truth <= 1 else { throw malformed }
      return .bool(truth == 1)
    case .integer: return .integer(Int64(bitPattern: try number(in: key, at: &index) ^ (1 << 63)))
    case .double: return .double(try double(in: key, at: &index))
    case .date: return .date(try double(in: key, at: &index))
    case .text: return .text(String(decoding: try run(in: key, at: &index), as: UTF8.self))
    case .document: return .document(String(decoding: try run(in: key, at: &index), as: UTF8.self))
    case .bytes: return .bytes(try run(in: key, at: &index))
    case .uuid:
      guard key.count - index >= 16 else { throw malformed }
      defer { index += 16 }
      return .uuid(UUID(uuid: key.loadUnaligned(fromByteOffset: index, as: uuid_t.self)))
    case .decimal:
      guard let decimal = Decimal(canonicalText: try decimalText(in: key, at: &index)) else {
        throw malformed
      }
      return .decimal(decimal)
    }
  }

  static func byte(in key: UnsafeRawBufferPointer, at index: inout Int) throws -> UInt8 {
    guard index < key.count else { throw malformed }
    defer { index += 1 }
    return key[index]
  }

  static func number(in key: UnsafeRawBufferPointer, at index: inout Int) throws -> UInt64 {
    guard key.count - index >= 8 else { throw malformed }
    defer { index += 8 }
    return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: index, as: UInt64.self))
  }

  static func double(in key: UnsafeRawBufferPointer, at index: inout Int) throws -> Double {
    let number = try number(in: key, at: &index)
    return Double(bitPattern: number >> 63 == 1 ? number ^ (1 << 63) : ~number)
  }

  /// The unescaped bytes up to the closing zero.
  static func run(in key: UnsafeRawBufferPointer, at index: inout Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let byte = try byte(in: key, at: &index)
      if byte != 0 {
        bytes.append(byte)
      } else if index < key.count, key[index] == 0xFF {
        bytes.append(0)
        index += 1
      } else {
        return bytes
      }
    }
  }
}

extension KeyCodec {
  /// Decodes the ascending component at an index of a key into a field, or skips it without a field; advances
  /// the index, and returns whether bytes were copied to the row's own memory.
  ///
  /// Text and bytes without escapes are borrowed. Kinds that can be indexed have one encoding for each value,
  /// so the result equals the record's field.
  static func fill(
    _ position: Int?, of row: RowBuffer, from key: UnsafeRawBufferPointer, at index: inout Int
  ) throws -> Bool {
    guard let position else {
      try skip(in: key, at: &index)
      return false
    }
    let code = try byte(in: key, at: &index)
    guard code >= nilCode, let tag = RowCell.Tag(rawValue: code - nilCode) else { throw malformed }
    let cell: RowCell
    switch tag {
    case .null: cell = .null
    case .bool:
      let truth = try byte(in: key, at: &index)
      guard truth <= 1 else { throw malformed }
      cell = .bool(truth == 1)
    case .integer: cell = .integer(Int64(bitPattern: try number(in: key, at: &index) ^ (1 << 63)))
    case .double: cell = .double(try double(in: key, at: &index))
    case .date: cell = .date(try double(in: key, at: &index))
    case .uuid:
      guard key.count - index >= 16 else { throw malformed }
      cell = .uuid(UUID(uuid: key.loadUnaligned(fromByteOffset: index, as: uuid_t.self)))
      index += 16
    case .decimal:
      let text = try decimalText(in: key, at: &index)
      guard let number = Decimal(canonicalText: text) else { throw malformed }
      row.setDecimal(number, at: position)
      return true
    case .text, .bytes, .document:
      let start = index
      let isEscaped = try skipRun(in: key, at: &index)
      guard !isEscaped else {
        index = start
        let bytes = try run(in: key, at: &index)
        bytes.withUnsafeBytes { row.setCopy(of: borrowed(tag, $0), at: position) }
        return true
      }
      cell = borrowed(tag, UnsafeRawBufferPointer(rebasing: key[start..<index - 1]))
    }
    row.setCell(cell, at: position)
    return false
  }

  /// Skips the ascending component at an index of a key.
  static func skip(in key: UnsafeRawBufferPointer, at index: inout Int) throws {
    let code = try byte(in: key, at: &index)
    guard code >= nilCode, let tag = RowCell.Tag(rawValue: code - nilCode) else { throw malformed }
    let length: Int
    switch tag {
    case .null: length = 0
    case .bool: length = 1
    case .integer, .double, .date: length = 8
    case .uuid: length = 16
    case .decimal: return try skipDecimal(in: key, at: &index)
    case .text, .bytes, .document:
      _ = try skipRun(in: key, at: &index)
      return
    }
    guard key.count - index >= length else { throw malformed }
    index += length
  }

  private static func borrowed(_ tag: RowCell.Tag, _ bytes: UnsafeRawBufferPointer) -> RowCell {
    switch tag {
    case .text: .text(bytes)
    case .bytes: .bytes(bytes)
    default: .document(bytes)
    }
  }

  /// Skips text or bytes with their terminator; returns whether they contain escapes.
  private static func skipRun(in key: UnsafeRawBufferPointer, at index: inout Int) throws -> Bool {
    var isEscaped = false
    guard let base = key.baseAddress else { throw malformed }
    while index < key.count, let zero = memchr(base + index, 0, key.count - index) {
      index = UnsafeRawPointer(zero) - base + 1
      guard index < key.count, key[index] == afterAll else { return isEscaped }
      isEscaped = true
      index += 1
    }
    throw malformed
  }
}
