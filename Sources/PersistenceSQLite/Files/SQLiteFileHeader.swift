import CSQLite

/// What the header of a file says of it (https://sqlite.org/fileformat2.html, section 1.3).
///
/// Statements would tell it, too, but each takes ten times as long, and may make a log.
struct SQLiteFileHeader {
  /// Whether SQLite keeps a write-ahead log.
  let hasLog: Bool
  /// Whether texts are in UTF-8; false also for a file without content, which has no encoding yet.
  let isUTF8: Bool

  /// Reads the header through the descriptor of a connection: closing another one would release the locks of this process.
  ///
  /// It is nil if the file is new, or is not as SQLite itself writes it. What it tells does not change while a connection reads, not
  /// even in the log.
  init?(of connection: SQLiteConnection) {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    guard code == SQLITE_OK, let file, let read = file.pointee.pMethods?.pointee.xRead else { return nil }
    let length = 100
    let bytes: (readVersion: UInt8, encoding: UInt8)? = withUnsafeTemporaryAllocation(
      byteCount: length, alignment: 1
    ) { bytes in
      guard read(file, bytes.baseAddress, Int32(length), 0) == SQLITE_OK,
        bytes.starts(with: "SQLite format 3\0".utf8)
      else { return nil }
      // The encoding is a number of four bytes, with the most significant one first.
      return (bytes[19], bytes[56..<59].allSatisfy { $0 == 0 } ? bytes[59] : .max)
    }
    guard let bytes else { return nil }
    (hasLog, isUTF8) = (bytes.readVersion == 2, bytes.encoding == 1)
  }
}
