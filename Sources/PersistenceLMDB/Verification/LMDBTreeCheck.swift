import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceKeyValue

/// Checks pages of one state of a store, by reading the file, before LMDB follows them.
///
/// LMDB trusts the pages that it maps, so a damaged one may end the process. The caller pins the state, so that its pages
/// do not change.
final class LMDBTreeCheck {
  enum Scope {
    /// The pages that every opening reads: those of the main database and of the catalog.
    case catalog
    /// All pages of all trees, and the first page of each long value.
    case structure
    /// The same, with the order of keys, the recorded numbers of pages and entries, and all pages of long values.
    case everything
  }

  private let file: Int32
  /// The start of the file's content, if it was read at once.
  private let content: UnsafeRawBufferPointer
  private let header: LMDBHeader
  private let scope: Scope
  private let report: (StoreFinding) throws -> Void
  private let pageCount: Int
  private var seen: LMDBPageSet
  private var buffers: [UnsafeMutableRawBufferPointer] = []
  private let sizes: UnsafeMutableBufferPointer<UInt16>
  private var tree: LMDBTree
  private var counts = (branches: 0, leaves: 0, overflow: 0, entries: 0)
  private var findings = 0
  /// The databases that the main database names.
  private var named: [LMDBTree] = []
  /// What is wrong with an entry of the main database that names no database, unless another program owns the file.
  private var stranger: String?

  init(
    _ file: Int32, content: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
    _ header: LMDBHeader, _ scope: Scope, _ report: @escaping (StoreFinding) throws -> Void
  ) {
    self.file = file
    self.content = content
    self.header = header
    self.scope = scope
    self.report = report
    tree = header.main
    // The file bounds the number of pages, whatever the header says.
    pageCount = max(0, min(header.lastPage + 1, header.fileSize / header.pageSize))
    seen = LMDBPageSet(denseCount: scope == .catalog ? 0 : pageCount)
    sizes = .allocate(capacity: header.pageSize / 2)
    sizes.initialize(repeating: 0)
  }

  deinit {
    for buffer in buffers { buffer.deallocate() }
    sizes.deallocate()
  }

  /// Throws an error with code `damaged` that names the first damaged page.
  static func require(
    _ file: Int32, content: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
    _ header: LMDBHeader, _ scope: Scope, location: String
  ) throws {
    let check = LMDBTreeCheck(file, content: content, header, scope) { finding in
      throw PersistenceError(
        .damaged, "\(finding.object) \(finding.detail); the file was not changed; restore it from a backup",
        location: location)
    }
    _ = try check.run()
  }

  /// Checks the main database, the databases that it names, and the freelist; returns whether all are sound.
  func run() throws -> Bool {
    try check(header.main)
    if let stranger, named.contains(where: { $0.name == KeySpace.catalog.name }) {
      try found("the tree \(LMDBHeader.mainName)", stranger)
    }
    for tree in named where scope != .catalog || tree.name == KeySpace.catalog.name { try check(tree) }
    if scope != .catalog { try check(header.freelist) }
    return findings == 0
  }

  private func check(_ tree: LMDBTree) throws {
    self.tree = tree
    counts = (0, 0, 0, 0)
    let before = findings
    guard let root = tree.root else {
      if tree.entries != 0 || tree.depth != 0 {
        try found("the tree \(tree.name)", "is empty, but has entries or levels")
      }
      return
    }
    guard 1...LMDBTree.depthLimit ~= tree.depth else {
      return try found("the tree \(tree.name)", "has \(tree.depth) levels")
    }
    try visit(root, level: 1, from: nil, to: nil)
    let counted = [counts.branches, counts.leaves, counts.overflow, counts.entries]
    let recorded = [tree.branchPages, tree.leafPages, tree.overflowPages, tree.entries]
    if scope == .everything, findings == before, counted != recorded {
      try found(
        "the tree \(tree.name)",
        "has \(counted) branch pages, leaf pages, overflow pages and entries, but records \(recorded)")
    }
  }

  /// Checks a page and those below it, whose keys lie between two bounds.
  private func visit(
    _ number: Int, level: Int, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?
  ) throws {
    try ReadInterruption.check()
    do {
      try claim(number, count: 1)
      let page = try LMDBPage(try read(number, level: level), number: number, sizes: sizes)
      guard (page.kind == .leaf) == (level == tree.depth) else {
        throw LMDBPageDamage("is of another kind than its level needs")
      }
      try checkKeys(page, from: lower, to: upper)
      if page.kind == .leaf {
        counts.leaves += 1
        counts.entries += page.count
        for index in 0..<page.count { try checkValue(of: page.node(index), level: level + 1) }
        return
      }
      counts.branches += 1
      // LMDB ends the process at a branch with one child, but allows it in the freelist.
      guard page.count > 1 || tree.hasIntegerKeys else { throw LMDBPageDamage("is a branch with one child") }
      for index in 0..<page.count {
        let node = page.node(index)
        let next = index + 1 < page.count ? page.node(index + 1).key : upper
        try visit(node.child, level: level + 1, from: index == 0 ? lower : node.key, to: next)
      }
    } catch let damage as LMDBPageDamage {
      try found("page \(number) of the tree \(tree.name)", damage.detail)
    }
  }

  private func checkKeys(
    _ page: LMDBPage, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?
  ) throws {
    // Records with keys that are out of order may not be found, but others can be read.
    guard scope == .everything || tree.hasIntegerKeys else { return }
    var last = lower
    // The bound from above is the first key of a leaf, or precedes it.
    var mayEqual = page.kind == .leaf
    // The first key of a branch page is not used.
    for index in (page.kind == .branch ? 1 : 0)..<page.count {
      let key = page.node(index).key
      if tree.hasIntegerKeys, key.count != 8 { throw LMDBPageDamage("has a key that is no number") }
      if let last {
        let order = order(last, key)
        guard order < 0 || order == 0 && mayEqual else {
          throw LMDBPageDamage("has keys that are out of order")
        }
      }
      last = key
      mayEqual = false
    }
    if let last, let upper, order(last, upper) >= 0 { throw LMDBPageDamage("has keys of its neighbor") }
  }

  /// Less than 0 if the left key precedes the right one, and 0 if they are equal.
  private func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    if tree.hasIntegerKeys {
      let (left, right) = (left.loadUnaligned(as: UInt64.self), right.loadUnaligned(as: UInt64.self))
      return left < right ? -1 : left > right ? 1 : 0
    }
    if let (first, second) = left.baseAddress.flatMap({ first in right.baseAddress.map { (first, $0) } }) {
      let order = Int(memcmp(first, second, min(left.count, right.count)))
      if order != 0 { return order }
    }
    return left.count - right.count
  }

  private func checkValue(of node: LMDBNode, level: Int) throws {
    let isMain = tree.name == LMDBHeader.mainName
    switch node.flags {
    case 0 where !isMain:
      if tree.hasIntegerKeys { try checkFreePages(node, node.value) }
    case LMDBNode.isLong where !isMain:
      try checkLongValue(node, level: level)
    case LMDBNode.isTree where isMain && node.size == LMDBTree.length:
      let tree = LMDBTree(node.value, name: String(decoding: node.key, as: UTF8.self))
      guard tree.flags == 0 else { throw LMDBPageDamage("has a tree with other flags") }
      named.append(tree)
    default:
      let detail = "has an entry of another kind than its tree needs: its flags are \(node.flags)"
      let isCatalog = node.key.elementsEqual(KeySpace.catalog.name.utf8)
      guard isMain, !isCatalog, node.flags == 0 else { throw LMDBPageDamage(detail) }
      stranger = detail
    }
  }

  private func checkLongValue(_ node: LMDBNode, level: Int) throws {
    let first = Int(truncatingIfNeeded: node.value.loadUnaligned(as: UInt64.self))
    let count = (LMDBPage.headerLength + node.size - 1) / header.pageSize + 1
    try claim(first, count: count)
    let all = try LMDBPage.overflowCount(try read(first, level: level), number: first)
    guard all >= count else { throw LMDBPageDamage("has a long value on fewer pages than its size needs") }
    // A value may have become shorter than its pages.
    try claim(first + count, count: all - count)
    counts.overflow += all
    if tree.hasIntegerKeys {
      var bytes = [UInt8](repeating: 0, count: count * header.pageSize)
      try bytes.withUnsafeMutableBytes { try read(first, into: $0) }
      try bytes.withUnsafeBytes { bytes in
        let end = LMDBPage.headerLength + node.size
        try checkFreePages(node, UnsafeRawBufferPointer(rebasing: bytes[LMDBPage.headerLength..<end]))
      }
    } else if scope == .everything {
      for page in first + 1..<first + count { _ = try read(page, level: level) }
    }
  }

  /// Checks a record of the freelist: the number of pages, and the pages in descending order.
  private func checkFreePages(_ node: LMDBNode, _ value: UnsafeRawBufferPointer) throws {
    func word(_ index: Int) -> UInt64 { value.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self) }
    guard node.key.loadUnaligned(as: UInt64.self) <= header.transaction, value.count >= 8,
      word(0) < UInt64(value.count / 8)
    else { throw LMDBPageDamage("has no list of free pages") }
    var last = UInt64(header.lastPage) + 1
    for index in 0..<Int(word(0)) {
      let page = word(index + 1)
      guard page >= 2, page < last else { throw LMDBPageDamage("has free pages that are out of order") }
      last = page
      // LMDB does not write a page that was freed in the transaction that allocated it.
      if page < pageCount { try claim(Int(page), count: 1) }
    }
  }

  /// Notes that pages are used; each page belongs to one tree, or is free.
  private func claim(_ first: Int, count: Int) throws {
    guard first >= 2, count >= 0, first <= pageCount, count <= pageCount - first else {
      throw LMDBPageDamage("is, or refers to, page \(first), which is not in the file")
    }
    for page in first..<first + count {
      guard seen.insert(page) else {
        throw LMDBPageDamage("is, or refers to, page \(page), which is used twice")
      }
    }
  }

  /// The bytes of a page, in the buffer of a level, which no other page of the path uses, unless they were read before.
  private func read(_ page: Int, level: Int) throws -> UnsafeRawBufferPointer {
    let (start, end) = (page * header.pageSize, (page + 1) * header.pageSize)
    if end <= content.count { return UnsafeRawBufferPointer(rebasing: content[start..<end]) }
    while buffers.count <= level {
      buffers.append(.allocate(byteCount: header.pageSize, alignment: MemoryLayout<UInt64>.alignment))
    }
    try read(page, into: buffers[level])
    return UnsafeRawBufferPointer(buffers[level])
  }

  private func read(_ page: Int, into buffer: UnsafeMutableRawBufferPointer) throws {
    let read = pread(file, buffer.baseAddress, buffer.count, off_t(page * header.pageSize))
    guard read == buffer.count else {
      throw LMDBPageDamage(
        "cannot be read" + (read < 0 ? ": \(String(cString: strerror(errno)))" : ": the file is truncated"))
    }
  }

  private func found(_ object: String, _ detail: String) throws {
    findings += 1
    try report(StoreFinding(.damaged, object, detail))
  }
}
