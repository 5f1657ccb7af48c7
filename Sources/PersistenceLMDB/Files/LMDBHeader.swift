import Foundation
import PersistenceDriver

/// The header of a data file: its first two pages, which are checked before LMDB trusts them.
///
/// The format is `MDB_meta` of LMDB 0.9 on 64-bit machines, after a page header of 16 bytes.
struct LMDBHeader: Sendable, Equatable {
  let pageSize: Int
  let mapSize: Int
  let lastPage: Int
  private(set) var fileSize = 0
  let transaction: UInt64
  /// The root pages of LMDB's free list and of its main database, without empty ones.
  let roots: [Int]

  var usedSize: Int { (lastPage + 1) * pageSize }

  private static let headerLength = 16
  private static let metaLength = 136
  private static let magic: UInt32 = 0xBEEF_C0DE
  private static let version: UInt32 = 1

  /// Reads the header; throws an error with code `notAStore` or `damaged`.
  static func read(_ path: String) throws -> LMDBHeader {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw LMDBFailure(code: errno, action: "open the store").error(location: path) }
    defer { close(file) }
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
      first = try LMDBHeader.meta(file, at: 0, path)
      second = try first.flatMap { try LMDBHeader.meta(file, at: $0.pageSize, path) }
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
    PersistenceError.damaged("the file is truncated or its first pages are damaged; restore it from a backup")
      .at(location: path)
  }

  private static func meta(_ file: Int32, at offset: Int, _ path: String) throws -> LMDBHeader? {
    var bytes = [UInt8](repeating: 0, count: headerLength + metaLength)
    let count = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, off_t(offset)) }
    guard count >= 0 else { throw LMDBFailure(code: errno, action: "read the store").error(location: path) }
    guard count == bytes.count else { return nil }
    return bytes.withUnsafeBytes { page in
      func word(_ offset: Int) -> UInt64 {
        page.loadUnaligned(fromByteOffset: headerLength + offset, as: UInt64.self)
      }
      func half(_ offset: Int) -> UInt32 {
        page.loadUnaligned(fromByteOffset: headerLength + offset, as: UInt32.self)
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

/// Checks a file that is shorter than the size in its header.
///
/// LMDB does not write pages that were freed in the transaction that created them, so a sound file may end
/// before its last page. A truncated file may too; the system kills a process that reads beyond its end. The
/// check therefore looks for every reachable page. The format is that of LMDB 0.9.
struct LMDBPageCheck {
  private let file: Int32
  private let header: LMDBHeader
  private let pages: Int

  private enum Flag {
    static let branch = 0x01
    static let leaf = 0x02
    static let overflow = 0x04
    static let leaf2 = 0x20
    static let bigData = 0x01
    static let subData = 0x02
  }

  init(_ file: Int32, _ header: LMDBHeader) {
    self.file = file
    self.header = header
    pages = header.fileSize / header.pageSize
  }

  /// Throws an error with code `damaged` if a reachable page is missing.
  func requireWhole(_ path: String) throws {
    var pending = header.roots
    var seen = 0
    while let page = pending.popLast() {
      seen += 1
      guard page < pages, seen <= pages, let found = children(of: page) else {
        throw LMDBHeader.damaged(path)
      }
      pending += found
    }
  }

  /// The child pages of a page; nil if the page, or the end of one of its values, is not in the file.
  private func children(of number: Int) -> [Int]? {
    var page = [UInt8](repeating: 0, count: header.pageSize)
    let read = page.withUnsafeMutableBytes {
      pread(file, $0.baseAddress, $0.count, off_t(number * header.pageSize))
    }
    guard read == page.count else { return nil }
    return page.withUnsafeBytes { page in
      func short(_ offset: Int) -> Int { Int(page.loadUnaligned(fromByteOffset: offset, as: UInt16.self)) }
      let flags = short(10)
      if flags & Flag.overflow != 0 || flags & Flag.leaf2 != 0 { return [] }
      guard flags & (Flag.branch | Flag.leaf) != 0 else { return nil }
      let nodes = max(0, short(12) - 16) / 2
      var children: [Int] = []
      for index in 0..<nodes {
        guard 16 + 2 * index + 2 <= page.count else { return nil }
        let node = short(16 + 2 * index)
        guard node + 8 <= page.count else { return nil }
        if flags & Flag.branch != 0 {
          children.append(short(node) | short(node + 2) << 16 | short(node + 4) << 32)
          continue
        }
        let data = node + 8 + short(node + 6)
        if short(node + 4) & Flag.bigData != 0 {
          guard data + 8 <= page.count else { return nil }
          let first = page.loadUnaligned(fromByteOffset: data, as: UInt64.self)
          let size = short(node) | short(node + 2) << 16
          let count = (size + 16 + header.pageSize - 1) / header.pageSize
          guard let start = Int(exactly: first), start <= pages - count else { return nil }
        } else if short(node + 4) & Flag.subData != 0 {
          guard data + 48 <= page.count else { return nil }
          let root = page.loadUnaligned(fromByteOffset: data + 40, as: UInt64.self)
          if root != UInt64.max { children.append(Int(exactly: root) ?? Int.max) }
        }
      }
      return children
    }
  }
}
