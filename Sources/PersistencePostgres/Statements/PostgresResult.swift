import CPostgres

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
    let count = Int(PQgetlength(handle, row, column))
    // The length of NULL is 0, as is that of few other values, so most cells take no third call.
    guard count > 0 || PQgetisnull(handle, row, column) == 0 else { return nil }
    return UnsafeRawBufferPointer(start: PQgetvalue(handle, row, column), count: count)
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

  /// The number of a transaction in a cell; nil for NULL and for what is none.
  func transactionNumber(_ row: Int, _ column: Int) -> UInt64? {
    guard let bytes = bytes(row, column), bytes.count == 8 else { return nil }
    return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
  }
}
