import CPostgres
import Foundation
import PersistenceDriver

/// One answer of the server, with its rows in binary format.
///
/// Cells point into its memory, so rows are valid as long as it lives.
final class PostgresResult: @unchecked Sendable {  // libpq does not change a result after it was read
  let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { PQclear(handle) }

  /// The number of rows.
  var count: Int { Int(PQntuples(handle)) }

  /// The command that the server ran, such as `COMMIT` or `UPDATE 3`.
  var tag: String { String(cString: PQcmdStatus(handle)) }

  /// How many rows a statement changed.
  var changes: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

  /// The approximate memory of the result.
  var byteCount: Int { PQresultMemorySize(handle) }

  /// The bytes of a cell; nil for NULL.
  @inline(__always)
  func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
    let (row, column) = (Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column))
    guard PQgetisnull(handle, row, column) == 0 else { return nil }
    return UnsafeRawBufferPointer(
      start: PQgetvalue(handle, row, column), count: Int(PQgetlength(handle, row, column)))
  }

  /// The text of a cell that this package wrote or the server made; nil for NULL.
  func text(_ row: Int, _ column: Int) -> String? {
    bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The integer of a cell of any width; nil for NULL.
  func integer(_ row: Int, _ column: Int) -> Int64? {
    guard let bytes = bytes(row, column) else { return nil }
    switch bytes.count {
    case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 2: return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case 1: return Int64(bytes[0])
    default: return nil
    }
  }
}

/// The columns of a statement's rows: the fields that they hold.
struct PostgresColumns: Sendable {
  /// How to read one column.
  struct Reader: Sendable {
    let tag: RowCell.Tag
    let isOptional: Bool
  }

  /// The position of each column's field.
  let positions: [Int]
  /// How many columns the caller's rows have; further ones are for this package's own use.
  let selectedCount: Int
  let readers: [Reader]

  /// Some fields of a model: those of the caller's rows, which may contain duplicates, and others.
  init(_ selected: [Int], and others: [Int] = [], of schema: ModelSchema) {
    positions = selected + others.filter { !selected.contains($0) }
    selectedCount = selected.count
    readers = positions.map {
      Reader(tag: schema.fields[$0].kind.tag, isOptional: schema.fields[$0].isOptional)
    }
  }

  /// All fields of a model.
  init(all schema: ModelSchema) { self.init(Array(schema.fields.indices), of: schema) }
}

extension PostgresResult {
  /// Fills a buffer with the cells of a row, one for each column.
  func fill(_ buffer: RowBuffer, row: Int, _ columns: PostgresColumns) throws {
    buffer.reset()
    for column in columns.readers.indices {
      let reader = columns.readers[column]
      guard let bytes = bytes(row, column) else {
        guard reader.isOptional else { throw Self.mismatch(column, reader, "nil") }
        continue
      }
      guard Self.set(buffer, at: column, reader.tag, bytes) else {
        throw Self.mismatch(column, reader, "\(bytes.count) bytes of another kind")
      }
    }
  }

  /// The value of a cell.
  func value(_ row: Int, _ column: Int, _ reader: PostgresColumns.Reader) throws -> PersistentValue {
    guard let bytes = bytes(row, column) else { return .null }
    let buffer = RowBuffer(count: 1)
    guard Self.set(buffer, at: 0, reader.tag, bytes) else {
      throw Self.mismatch(column, reader, "\(bytes.count) bytes of another kind")
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
