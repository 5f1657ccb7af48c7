import Foundation
package import PersistenceDriver

extension KeyCodec {
  static var malformed: PersistenceError { .damaged("the bytes of a key are no values") }

  /// The values that a run of ascending components stands for, or the first of them.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/damaged`` where the bytes are no key, which
  ///   no bytes make worse than that.
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

  /// The bytes of text or bytes, without escapes, up to the closing zero.
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
