import Foundation
import PersistenceDriver

extension PostgresResult {
  /// Fills a buffer with the cells of a row, one for each column.
  func fill(_ buffer: RowBuffer, row: Int, _ columns: PostgresColumns) throws {
    buffer.reset()
    for column in columns.readers.indices {
      let reader = columns.readers[column]
      guard let bytes = bytes(row, column) else {
        guard reader.isOptional else {
          throw columns.foreign?[column].unexpectedNull ?? Self.mismatch(column, reader, "nil")
        }
        continue
      }
      guard Self.set(buffer, at: column, reader, bytes) else {
        throw columns.foreign?[column].unreadable
          ?? Self.mismatch(column, reader, "\(bytes.count) bytes of another kind")
      }
    }
  }

  /// The value of a cell.
  func value(
    _ row: Int, _ column: Int, _ reader: PostgresColumns.Reader, _ foreign: PostgresForeignColumn? = nil
  ) throws -> PersistentValue {
    guard let bytes = bytes(row, column) else { return .null }
    let buffer = RowBuffer(count: 1)
    guard Self.set(buffer, at: 0, reader, bytes) else {
      throw foreign?.unreadable ?? Self.mismatch(column, reader, "\(bytes.count) bytes of another kind")
    }
    return try buffer.withRow { try $0.value(at: 0) }
  }

  private static func mismatch(_ column: Int, _ reader: PostgresColumns.Reader, _ found: String)
    -> PersistenceError
  {
    PersistenceError.damaged("column number \(column) of a row has \(found) instead of \(reader.tag)")
  }

  /// Sets a cell of a buffer from a binary value; false if the value is none of its kind.
  @inline(__always)
  private static func set(
    _ buffer: RowBuffer, at position: Int, _ reader: PostgresColumns.Reader, _ bytes: UnsafeRawBufferPointer
  ) -> Bool {
    if reader.isForeign { return setForeign(buffer, at: position, reader.tag, bytes) }
    return set(buffer, at: position, reader.tag, bytes)
  }

  /// Sets a cell from a value as this package writes it.
  @inline(__always)
  static func set(
    _ buffer: RowBuffer, at position: Int, _ tag: RowCell.Tag, _ bytes: UnsafeRawBufferPointer
  ) -> Bool {
    switch tag {
    case .null: return false
    case .bool:
      guard bytes.count == 1 else { return false }
      buffer.setCell(.bool(bytes[0] != 0), at: position)
    case .integer:
      guard bytes.count == 8 else { return false }
      buffer.setCell(.integer(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))), at: position)
    case .double, .date:
      guard bytes.count == 8 else { return false }
      let number = Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
      buffer.setCell(tag == .date ? .date(number) : .double(number), at: position)
    case .text:
      guard PostgresText.hasEscape(bytes) else {
        buffer.setCell(.text(bytes), at: position)
        return true
      }
      guard let text = PostgresText.unescaped(bytes) else { return false }
      text.withUnsafeBytes { buffer.setCopy(of: .text($0), at: position) }
    case .bytes: buffer.setCell(.bytes(bytes), at: position)
    case .uuid:
      guard bytes.count == 16 else { return false }
      buffer.setCell(.uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))), at: position)
    case .decimal:
      guard let text = PostgresNumeric.canonicalText(bytes) else { return false }
      text.withUnsafeBytes { buffer.setCopy(of: .decimal($0), at: position) }
    case .document: buffer.setCell(.document(bytes), at: position)
    }
    return true
  }
}
