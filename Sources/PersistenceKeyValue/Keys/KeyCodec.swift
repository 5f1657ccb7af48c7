import Foundation
package import PersistenceDriver

/// Values as bytes whose order is the contract's order (V3 to V4a, O3).
///
/// The base is FoundationDB's tuple layer (`design/tuple.md` there): a code for the kind, then the value;
/// text and bytes with `00` written `00 FF` and a closing `00`; integers big-endian with the sign bit flipped;
/// doubles by ``TotalOrder/key(_:)``; decimals as sign, exponent and digits. Every component says itself where
/// it ends, so components follow each other without more. Codes are never `00` or `FF`, so that no code can be
/// taken for a part of an escape, in either direction. A descending component is the ascending one with all its
/// bytes inverted.
package enum KeyCodec {
  /// The code of nil, less than every other.
  static let nilCode: UInt8 = 0x01

  /// What follows every key that begins with whole components: no code is as great.
  static let afterAll: UInt8 = 0xFF

  /// What ends a key whose last component may be descending: greater than the second byte of an inverted escape,
  /// less than that of another.
  static let afterLast: UInt8 = 0x80

  /// The code of a kind of value.
  static func code(of tag: RowCell.Tag) -> UInt8 { tag.rawValue + nilCode }

  /// Appends a cell.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` where a decimal's text is none.
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

  /// Appends a value.
  ///
  /// - Throws: ``PersistenceError`` where a decimal has no text.
  package static func append(value: PersistentValue, to key: ByteBuffer) throws {
    switch value {
    case .null: try append(cell: .null, to: key)
    case .bool(let value): try append(cell: .bool(value), to: key)
    case .integer(let value): try append(cell: .integer(value), to: key)
    case .double(let value): try append(cell: .double(value), to: key)
    case .date(let value): try append(cell: .date(value), to: key)
    case .uuid(let value): try append(cell: .uuid(value), to: key)
    case .bytes(let value): try value.withUnsafeBytes { try append(cell: .bytes($0), to: key) }
    case .text(var value):
      try value.withUTF8 { try append(cell: .text(UnsafeRawBufferPointer($0)), to: key) }
    case .document(var value):
      try value.withUTF8 { try append(cell: .document(UnsafeRawBufferPointer($0)), to: key) }
    case .decimal(let value):
      var text = value.canonicalText
      try text.withUTF8 { try append(cell: .decimal(UnsafeRawBufferPointer($0)), to: key) }
    }
  }

  /// Appends the beginning that all texts with a prefix share.
  static func append(textBeginningWith prefix: String, to key: ByteBuffer) {
    var prefix = prefix
    key.append(code(of: .text))
    prefix.withUTF8 { key.append(escaping: UnsafeRawBufferPointer($0)) }
  }

  /// The bytes of values one after the other.
  ///
  /// - Throws: ``PersistenceError`` where a value has no encoding.
  package static func bytes(of values: some Sequence<PersistentValue>) throws -> [UInt8] {
    let buffer = ByteBuffer()
    for value in values { try append(value: value, to: buffer) }
    return buffer.array
  }
}
