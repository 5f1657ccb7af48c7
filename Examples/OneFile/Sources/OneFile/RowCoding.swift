import Foundation
import PersistenceDriver

/// Encodes the cells of a row: each cell's tag, then eight bytes, sixteen bytes, or a length and that many bytes.
///
/// Numbers are stored bit for bit and text byte for byte, so every value is read back unchanged (contract V2).
enum RowCoding {
  /// Appends one cell.
  static func append(_ cell: RowCell, to bytes: inout [UInt8]) {
    bytes.append(cell.tag.rawValue)
    switch cell.tag {
    case .null: break
    case .bool: bytes.append(cell.boolValue ? 1 : 0)
    case .integer: bytes.append(word: UInt64(bitPattern: cell.integerValue))
    case .double, .date: bytes.append(word: cell.doubleValue.bitPattern)
    case .uuid: withUnsafeBytes(of: cell.uuidValue.uuid) { bytes.append(contentsOf: $0) }
    case .text, .bytes, .decimal, .document:
      bytes.append(word: UInt64(cell.borrowedBytes.count))
      bytes.append(contentsOf: cell.borrowedBytes)
    }
  }

  /// Decodes one cell, which points into the reader's bytes.
  static func cell(_ reader: inout ByteReader) throws -> RowCell {
    guard let tag = RowCell.Tag(rawValue: try reader.byte()) else {
      throw PersistenceError.damaged("a value in the file has an unknown kind")
    }
    switch tag {
    case .null: return .null
    case .bool: return .bool(try reader.byte() != 0)
    case .integer: return .integer(Int64(bitPattern: try reader.word()))
    case .double: return .double(Double(bitPattern: try reader.word()))
    case .date: return .date(Double(bitPattern: try reader.word()))
    case .uuid: return .uuid(UUID(uuid: try reader.run(16).loadUnaligned(as: uuid_t.self)))
    case .text: return .text(try run(&reader))
    case .bytes: return .bytes(try run(&reader))
    case .decimal: return .decimal(try run(&reader))
    case .document: return .document(try run(&reader))
    }
  }

  private static func run(_ reader: inout ByteReader) throws -> UnsafeRawBufferPointer {
    try reader.run(try reader.word())
  }
}
