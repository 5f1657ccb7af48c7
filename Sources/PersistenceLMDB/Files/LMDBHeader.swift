import Foundation
import PersistenceDriver

#if os(Linux)
  import CFileSystem  // to which the compiler attributes `stat`
#endif

/// The header of a data file: its first two pages, which are checked before LMDB trusts them.
///
/// The format is `MDB_meta` of LMDB 0.9 on 64-bit machines, after a page header of 16 bytes.
struct LMDBHeader: Sendable, Equatable {
  let pageSize: Int
  let mapSize: Int
  let lastPage: Int
  private(set) var fileSize = 0
  let transaction: UInt64
  let freelist: LMDBTree
  let main: LMDBTree

  static let freelistName = "freelist"
  static let mainName = "main database"

  var usedSize: Int { (lastPage + 1) * pageSize }

  private var isPlausible: Bool {
    // LMDB records a map that holds all its pages. Numbers of transactions become `Int`, and the code adds to them.
    lastPage >= 1 && lastPage < Int.max / pageSize && mapSize >= 0 && (mapSize == 0 || usedSize <= mapSize)
      && transaction < 1 << 62
  }

  private static let headerLength = 16
  private static let length = headerLength + 136
  /// The size of most pages, with which one call reads both headers.
  private static let usualPageSize = 4096
  /// The flags of a header page; the freelist's, whose keys are integers, beside the flags of the file that created it.
  private static let (metaFlag, integerKeys, creationFlags): (UInt16, UInt16, UInt16) = (0x08, 0x08, 0x4000)
  private static let magic: UInt32 = 0xBEEF_C0DE
  private static let version: UInt32 = 1

  /// Reads the header; throws an error with code `notAStore` or `damaged`.
  static func read(_ path: String) throws -> LMDBHeader {
    try LMDBFiles.reading(path) { try read($0, path) }
  }

  /// Reads the header of an open file.
  static func read(_ file: Int32, _ path: String) throws -> LMDBHeader {
    var reading = try Reading(file, path)
    for _ in 0..<100 {
      do {
        return try reading.newest(file, path)
      } catch let error as PersistenceError where error.code == .damaged {
        // A commit of another process may change the header while it is read. Damage does not go away.
        let again = try Reading(file, path)
        guard again != reading else { throw error }
        reading = again
      }
    }
    return try reading.newest(file, path)
  }

  /// The header pages and the size of a file, read at about the same time.
  private struct Reading: Equatable {
    let first: LMDBHeader?
    let second: LMDBHeader?
    let size: Int

    init(_ file: Int32, _ path: String) throws {
      let pages = try LMDBHeader.pages(file, path)
      first = pages.first
      second = pages.second
      // Read last: a file grows before its header changes.
      var status = stat()
      guard fstat(file, &status) == 0 else {
        throw LMDBFailure(code: errno, action: "open the store").error(location: path)
      }
      size = Int(status.st_size)
    }

    func newest(_ file: Int32, _ path: String) throws -> LMDBHeader {
      // A new store is renamed when it is complete, so an empty one has lost its data.
      if size == 0 { throw LMDBHeader.damaged(path) }
      guard let first else {
        throw PersistenceError(
          .notAStore, "the file is no LMDB store; it was not changed; use another path", location: path)
      }
      guard let second, LMDBHeader.areConsecutive(first.transaction, second.transaction) else {
        throw LMDBHeader.damaged(path)
      }
      var newest = second.transaction > first.transaction ? second : first
      newest.fileSize = size
      guard newest.isPlausible else { throw LMDBHeader.damaged(path) }
      // LMDB does not write pages that were freed in the transaction that created them, so a sound file may end before
      // its last page. The system kills a process that reads a mapped page beyond the end, so no tree may lead there.
      if size < newest.usedSize { try LMDBTreeCheck.require(file, newest, .structure, location: path) }
      return newest
    }
  }

  static func damaged(_ path: String) -> PersistenceError {
    PersistenceError.damaged("the file is truncated or its first pages are damaged; restore it from a backup")
      .at(location: path)
  }

  /// Whether the header pages may contain these transactions.
  ///
  /// Transactions alternate between the pages. A flipped bit in the number would show an older state as the newest.
  private static func areConsecutive(_ even: UInt64, _ odd: UInt64) -> Bool {
    if even == 0, odd == 0 { return true }
    return even & 1 == 0 && (odd == even &+ 1 || odd &+ 1 == even)
  }

  /// The header of one state; nil if later commits have replaced it.
  static func read(_ file: Int32, _ path: String, ofTransaction transaction: UInt64) throws -> LMDBHeader? {
    func current() throws -> LMDBHeader? {
      let (first, second) = try pages(file, path)
      guard let first else { throw damaged(path) }
      return transaction & 1 == 0 ? first : second
    }
    // Read twice: a commit of another process may replace the header while it is read.
    guard var found = try current(), try current() == found, found.transaction == transaction else {
      return nil
    }
    guard found.isPlausible else { throw damaged(path) }
    var status = stat()
    guard fstat(file, &status) == 0 else {
      throw LMDBFailure(code: errno, action: "read the store").error(location: path)
    }
    found.fileSize = Int(status.st_size)
    return found
  }

  /// Reads both header pages; nil for one that is cut off, or is no header of LMDB.
  private static func pages(_ file: Int32, _ path: String) throws -> (first: LMDBHeader?, second: LMDBHeader?)
  {
    try withUnsafeTemporaryAllocation(byteCount: usualPageSize + length, alignment: 8) { buffer in
      let start = try content(of: file, from: 0, buffer, path)
      guard let first = try LMDBHeader(in: start, 0, pageSize: 0, path) else { return (nil, nil) }
      let place = first.pageSize
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[..<length])
      let other =
        try start.count >= place + length
        ? UnsafeRawBufferPointer(rebasing: start[place...]) : content(of: file, from: place, rest, path)
      return try (first, LMDBHeader(in: other, 1, pageSize: place, path))
    }
  }

  /// The bytes of a file from a place on that a buffer holds; fewer at the end of the file.
  private static func content(
    of file: Int32, from place: Int, _ buffer: UnsafeMutableRawBufferPointer, _ path: String
  ) throws -> UnsafeRawBufferPointer {
    let count = pread(file, buffer.baseAddress, buffer.count, off_t(place))
    guard count >= 0 else { throw LMDBFailure(code: errno, action: "read the store").error(location: path) }
    return UnsafeRawBufferPointer(rebasing: buffer[..<count])
  }
}

extension LMDBHeader {
  /// Whether content from the start of a file has this header.
  func isHeader(of content: UnsafeRawBufferPointer, _ path: String) throws -> Bool {
    let (number, start) = (Int(transaction & 1), Int(transaction & 1) * pageSize)
    guard start < content.count else { return false }
    let page = UnsafeRawBufferPointer(rebasing: content[start...])
    var found = try LMDBHeader(in: page, number, pageSize: pageSize, path)
    found?.fileSize = fileSize
    return found == self
  }

  /// The header in a page; nil if the page is cut off or has none.
  ///
  /// The page size is 0 if it is not known yet.
  private init?(in page: UnsafeRawBufferPointer, _ number: Int, pageSize: Int, _ path: String) throws {
    guard page.count >= Self.length else { return nil }
    let start = Self.headerLength
    func word(_ offset: Int) -> UInt64 {
      page.loadUnaligned(fromByteOffset: start + offset, as: UInt64.self)
    }
    func half(_ offset: Int) -> UInt32 {
      page.loadUnaligned(fromByteOffset: start + offset, as: UInt32.self)
    }
    func short(_ offset: Int) -> UInt16 { page.loadUnaligned(fromByteOffset: offset, as: UInt16.self) }
    func tree(at offset: Int, _ name: String, hasIntegerKeys: Bool = false) -> LMDBTree {
      LMDBTree(
        UnsafeRawBufferPointer(rebasing: page[start + offset..<start + offset + LMDBTree.length]),
        name: name, hasIntegerKeys: hasIntegerKeys)
    }
    let found = Int(half(24))
    guard half(0) == Self.magic, half(4) == Self.version, found >= 512, found <= 1 << 16,
      found & (found - 1) == 0
    else { return nil }
    guard page.loadUnaligned(as: UInt64.self) == UInt64(number), short(10) == Self.metaFlag,
      pageSize == 0 || pageSize == found, short(start + 28) & ~Self.creationFlags == Self.integerKeys,
      short(start + 76) == 0
    else { throw Self.damaged(path) }
    self.init(
      pageSize: found, mapSize: Int(exactly: word(16)) ?? -1, lastPage: Int(exactly: word(120)) ?? -1,
      transaction: word(128), freelist: tree(at: 24, Self.freelistName, hasIntegerKeys: true),
      main: tree(at: 72, Self.mainName))
  }
}
