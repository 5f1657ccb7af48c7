import CSQLite

/// What the header of a file says of it (https://sqlite.org/fileformat2.html, section 1.3).
///
/// Statements would tell it, too, but each takes ten times as long, and may make a log. A log may hold a newer header.
struct SQLiteFileHeader {
  /// Whether SQLite keeps a write-ahead log.
  let hasLog: Bool
  /// Whether texts are in UTF-8; false also for a file without content, which has no encoding yet.
  let isUTF8: Bool

  /// Reads the header through the descriptor of a connection: closing another one would release the locks of this process.
  ///
  /// It is nil if there are too few bytes, as in a new file.
  init?(of connection: SQLiteConnection) {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    guard code == SQLITE_OK, let file, let read = file.pointee.pMethods?.pointee.xRead else { return nil }
    let length = 100
    let header: (hasLog: Bool, isUTF8: Bool)? = withUnsafeTemporaryAllocation(
      byteCount: length, alignment: 1
    ) { bytes in
      guard read(file, bytes.baseAddress, Int32(length), 0) == SQLITE_OK else { return nil }
      // The encoding is a number of four bytes, with the most significant one first.
      let isUTF8 = bytes[56..<60].elementsEqual([0, 0, 0, 1])
      return (bytes[19] == 2, isUTF8 && bytes.starts(with: "SQLite format 3\0".utf8))
    }
    guard let header else { return nil }
    (hasLog, isUTF8) = (header.hasLog, header.isUTF8)
  }
}
