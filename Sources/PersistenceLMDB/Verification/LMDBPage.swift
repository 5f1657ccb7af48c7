import Foundation
import PersistenceDriver

/// A branch or leaf page of a tree in a buffer, checked for itself.
///
/// The format is that of LMDB 0.9 on 64-bit machines.
struct LMDBPage {
  enum Kind: Int {
    case branch = 1
    case leaf = 2
  }

  /// The flag of the first page of a long value.
  private static let overflow = 4
  static let headerLength = 16

  let kind: Kind
  let count: Int
  private let bytes: UnsafeRawBufferPointer

  /// Checks the page; throws an ``LMDBPageDamage``.
  ///
  /// The buffer `sizes` is for the size of a node at each even position, and zero before and after the call.
  init(_ bytes: UnsafeRawBufferPointer, number: Int, sizes: UnsafeMutableBufferPointer<UInt16>) throws {
    guard Self.number(of: bytes) == UInt64(number) else {
      throw LMDBPageDamage("is marked as page \(Self.number(of: bytes))")
    }
    let flags = bytes.short(10)
    guard let kind = Kind(rawValue: flags) else {
      throw LMDBPageDamage("is no page of a tree: its flags are \(flags)")
    }
    let (lower, upper) = (bytes.short(12), bytes.short(14))
    guard lower > Self.headerLength, lower & 1 == 0, lower <= upper, upper <= bytes.count else {
      throw LMDBPageDamage("has no valid bounds")
    }
    self.kind = kind
    self.bytes = bytes
    count = (lower - Self.headerLength) / 2
    try checkNodes(from: upper, sizes)
  }

  /// Checks that the nodes fill the page from `upper` to its end: LMDB moves them without regard to its bounds.
  private func checkNodes(from upper: Int, _ sizes: UnsafeMutableBufferPointer<UInt16>) throws {
    var noted = 0
    // Clearing the whole buffer for each page would take as long as the rest.
    defer { for index in 0..<noted { sizes[start(index) / 2] = 0 } }
    while noted < count {
      let start = start(noted)
      guard start >= upper, start & 1 == 0, start + LMDBNode.headerLength <= bytes.count else {
        throw LMDBPageDamage("has node \(noted) outside its bounds")
      }
      let size = (node(at: start).length + 1) & ~1
      guard start + size <= bytes.count else { throw LMDBPageDamage("has node \(noted) beyond its end") }
      sizes[start / 2] = UInt16(size)
      noted += 1
    }
    var (position, found) = (upper, 0)
    while position < bytes.count {
      let size = Int(sizes[position / 2])
      guard size > 0 else { throw LMDBPageDamage("has nodes that overlap, or gaps between them") }
      position += size
      found += 1
    }
    guard position == bytes.count, found == count else {
      throw LMDBPageDamage("has nodes that overlap, or gaps between them")
    }
  }

  /// The number of pages that a long value has, from the first of them.
  static func overflowCount(_ bytes: UnsafeRawBufferPointer, number: Int) throws -> Int {
    guard Self.number(of: bytes) == UInt64(number), bytes.short(10) == overflow else {
      throw LMDBPageDamage("has a long value on page \(number), which is marked as another page or kind")
    }
    return Int(bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
  }

  /// The number that a page has of itself.
  private static func number(of bytes: UnsafeRawBufferPointer) -> UInt64 {
    bytes.loadUnaligned(as: UInt64.self)
  }

  private func start(_ index: Int) -> Int { bytes.short(Self.headerLength + 2 * index) }

  private func node(at start: Int) -> LMDBNode { LMDBNode(bytes, start, isBranch: kind == .branch) }

  /// A node by its position in the order of keys.
  func node(_ index: Int) -> LMDBNode { node(at: start(index)) }
}

/// A node of a page.
struct LMDBNode {
  static let headerLength = 8
  static let isLong = 1
  static let isTree = 2

  /// The flags of an entry, and the size of its value.
  let flags: Int
  let size: Int
  /// The page to which a node of a branch leads.
  let child: Int
  private let bytes: UnsafeRawBufferPointer
  private let keyStart: Int
  private let keyEnd: Int
  private let storedSize: Int

  init(_ page: UnsafeRawBufferPointer, _ start: Int, isBranch: Bool) {
    bytes = page
    size = page.short(start) | page.short(start + 2) << 16
    flags = isBranch ? 0 : page.short(start + 4)
    child = isBranch ? size | page.short(start + 4) << 32 : 0
    keyStart = start + Self.headerLength
    keyEnd = keyStart + page.short(start + 6)
    storedSize = isBranch ? 0 : flags & Self.isLong != 0 ? 8 : size
  }

  var length: Int { keyEnd - keyStart + Self.headerLength + storedSize }

  var key: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[keyStart..<keyEnd]) }

  /// The value, or the number of its first overflow page.
  var value: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[keyEnd..<keyEnd + storedSize])
  }
}

/// What is wrong with a page, as the end of a sentence about it.
struct LMDBPageDamage: Error {
  let detail: String

  init(_ detail: String) { self.detail = detail }
}

extension UnsafeRawBufferPointer {
  @inline(__always)
  fileprivate func short(_ offset: Int) -> Int { Int(loadUnaligned(fromByteOffset: offset, as: UInt16.self)) }
}
