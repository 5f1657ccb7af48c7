import CLMDB
import PersistenceDriver
import PersistenceKeyValue

extension LMDBTransaction {
  /// The pages that a removal changes at most before those that it empties are free for it, and the pages of its catalog.
  private static let pagesToRemove = 40

  /// Throws ``PersistenceError/Code/storeFull`` unless the next transaction has the pages to remove what this one has
  /// written.
  ///
  /// A removal copies the pages that it changes, and writes a list of those that it frees, which are free for others only
  /// in the transaction after the next one. In a store without other free pages, nothing could be removed.
  func requireSpaceToUndo() throws {
    try writePending()
    let parent = try current()
    closeCursors()
    var status = MDB_stat()
    try check(mdb_stat(parent, handle.records, &status), "look at the store's size")
    let page = Int(status.ms_psize)
    let counts = [status.ms_leaf_pages, status.ms_branch_pages, status.ms_overflow_pages]
    // LMDB does not check the numbers that the file records.
    guard counts.allSatisfy({ 0...handle.mapSize / page ~= $0 }) else {
      throw PersistenceError.damaged(
        "the tree \(KeySpace.records.name) records more pages than the map holds")
    }
    let pages = counts.reduce(0, +)
    let list = pages * MemoryLayout<Int>.size / page + 1
    // A child that is rolled back returns its pages.
    var child: OpaquePointer?
    try check(mdb_txn_begin(handle.environment, parent, 0, &child), "begin a nested transaction")
    defer { mdb_txn_abort(child) }
    for number in 0..<Self.pagesToRemove {
      var name = (UInt8.max, UInt8.max, UInt8(truncatingIfNeeded: number))
      try withUnsafeMutableBytes(of: &name) { name in
        var key = MDB_val(mv_size: name.count, mv_data: name.baseAddress)
        // A value of more than half a page has pages of its own, with a header of sixteen bytes.
        var value = MDB_val(mv_size: (number == 0 ? list : 1) * page - 16, mv_data: nil)
        try check(mdb_put(child, handle.records, &key, &value, UInt32(MDB_RESERVE)), "commit early")
      }
    }
  }
}
