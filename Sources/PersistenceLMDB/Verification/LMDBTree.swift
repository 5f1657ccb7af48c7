/// The record of one of LMDB's databases: `MDB_db` of LMDB 0.9 on 64-bit machines.
struct LMDBTree: Sendable, Equatable {
  static let length = 48
  /// The largest number of levels that LMDB follows.
  static let depthLimit = 32

  let name: String
  let flags: Int
  /// The root page; nil if the tree is empty.
  let root: Int?
  let depth: Int
  let branchPages: Int
  let leafPages: Int
  let overflowPages: Int
  let entries: Int
  /// Whether the keys are integers: those of the freelist are numbers of transactions.
  let hasIntegerKeys: Bool

  init(_ record: UnsafeRawBufferPointer, name: String, hasIntegerKeys: Bool = false) {
    func word(_ offset: Int) -> Int {
      Int(truncatingIfNeeded: record.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    self.name = name
    self.hasIntegerKeys = hasIntegerKeys
    flags = Int(record.loadUnaligned(fromByteOffset: 4, as: UInt16.self))
    depth = Int(record.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
    branchPages = word(8)
    leafPages = word(16)
    overflowPages = word(24)
    entries = word(32)
    root = word(40) == -1 ? nil : word(40)
  }
}
