import Foundation
import PersistenceDriver

/// Finds out whether a file that is shorter than it says has lost anything.
///
/// LMDB does not write pages that were given up in the transaction that made them, so a sound file may end before
/// its last page; a file that was cut may too, and LMDB would be killed by the system where it looks beyond the
/// end. So every page that can be reached is looked for. The form is that of LMDB 0.9's pages.
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

  /// - Throws: ``PersistenceError`` with code `damaged` where a page that is in use is missing.
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

  /// The pages that a page leads to; nil where it, or the end of one, is not in the file.
  private func children(of number: Int) -> [Int]? {
    var page = [UInt8](repeating: 0, count: header.pageSize)
    let read = page.withUnsafeMutableBytes {
      pread(file, $0.baseAddress, $0.count, off_t(number * header.pageSize))
    }
    guard read == page.count else { return nil }
    return page.withUnsafeBytes { page in
      func short(_ place: Int) -> Int { Int(page.loadUnaligned(fromByteOffset: place, as: UInt16.self)) }
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
