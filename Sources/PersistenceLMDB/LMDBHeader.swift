import Foundation
import PersistenceDriver

/// What the first two pages of a data file say: read by ourselves, before LMDB trusts them.
///
/// The form is that of LMDB 0.9's `MDB_meta` on machines of 64 bits, which follows a page header of 16 bytes.
struct LMDBHeader: Sendable, Equatable {
  let pageSize: Int
  let mapSize: Int
  let lastPage: Int
  private(set) var fileSize = 0
  let transaction: UInt64
  /// The root pages of LMDB's list of free pages and of its main database; nil where they are empty.
  let roots: [Int]

  /// How many bytes of the file are in use.
  var usedSize: Int { (lastPage + 1) * pageSize }

  private static let headerLength = 16
  private static let metaLength = 136
  private static let magic: UInt32 = 0xBEEF_C0DE
  private static let version: UInt32 = 1

  /// Reads the header.
  ///
  /// - Throws: ``PersistenceError`` with code `notAStore` or `damaged`.
  static func read(_ path: String) throws -> LMDBHeader {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw LMDBFailure(code: errno, action: "open the store").error(location: path) }
    defer { close(file) }
    var look = try Look(file, path)
    for _ in 0..<100 {
      do {
        return try look.newest(file, path)
      } catch let error as PersistenceError where error.code == .damaged {
        // Another process may have committed in the midst of it: damage is what stays while nobody does.
        let again = try Look(file, path)
        guard again != look else { throw error }
        look = again
      }
    }
    return try look.newest(file, path)
  }

  /// What was seen of a file at about one moment.
  private struct Look: Equatable {
    let first: LMDBHeader?
    let second: LMDBHeader?
    let size: Int

    init(_ file: Int32, _ path: String) throws {
      first = try LMDBHeader.meta(file, at: 0, path)
      second = try first.flatMap { try LMDBHeader.meta(file, at: $0.pageSize, path) }
      // Asked last: a file grows before its first pages say so.
      var status = stat()
      guard fstat(file, &status) == 0 else {
        throw LMDBFailure(code: errno, action: "open the store").error(location: path)
      }
      size = Int(status.st_size)
    }

    func newest(_ file: Int32, _ path: String) throws -> LMDBHeader {
      // A store is moved into its place when it is whole, so an empty one has lost everything.
      if size == 0 { throw LMDBHeader.damaged(path) }
      guard let first else {
        throw PersistenceError(
          .notAStore, "the file is no LMDB store; nothing was changed; give another path", location: path)
      }
      guard let second else { throw LMDBHeader.damaged(path) }
      var newest = second.transaction > first.transaction ? second : first
      newest.fileSize = size
      guard newest.lastPage >= 1, newest.lastPage < Int.max / newest.pageSize, newest.mapSize >= 0 else {
        throw LMDBHeader.damaged(path)
      }
      if size < newest.usedSize { try LMDBPageCheck(file, newest).requireWhole(path) }
      return newest
    }
  }

  static func damaged(_ path: String) -> PersistenceError {
    PersistenceError.damaged("the file is cut short or its first pages are damaged").at(location: path)
  }

  private static func meta(_ file: Int32, at offset: Int, _ path: String) throws -> LMDBHeader? {
    var bytes = [UInt8](repeating: 0, count: headerLength + metaLength)
    let count = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, off_t(offset)) }
    guard count >= 0 else { throw LMDBFailure(code: errno, action: "read the store").error(location: path) }
    guard count == bytes.count else {
      return nil
    }
    return bytes.withUnsafeBytes { page in
      func word(_ place: Int) -> UInt64 {
        page.loadUnaligned(fromByteOffset: headerLength + place, as: UInt64.self)
      }
      func half(_ place: Int) -> UInt32 {
        page.loadUnaligned(fromByteOffset: headerLength + place, as: UInt32.self)
      }
      let pageSize = Int(half(24))
      guard half(0) == magic, half(4) == version, pageSize >= 512, pageSize <= 1 << 16,
        pageSize & (pageSize - 1) == 0
      else { return nil }
      let roots = [word(64), word(112)].filter { $0 != UInt64.max }.compactMap { Int(exactly: $0) }
      return LMDBHeader(
        pageSize: pageSize, mapSize: Int(exactly: word(16)) ?? -1, lastPage: Int(exactly: word(120)) ?? -1,
        transaction: word(128), roots: roots)
    }
  }
}
