import Foundation
public import PersistenceDriver
import PersistenceDriverSupport

extension LMDBContext: VerifiableContext {
  /// Checks every page of the newest state, which it reads from the file, and reads every record if all pages are sound.
  ///
  /// Pages hold their number, their kind and ordered keys; each page belongs to one tree or is free; trees have the recorded
  /// numbers of pages and entries. Records have checksums.
  public func verify(_ report: (StoreFinding) throws -> Void) throws {
    let path = location + "/" + LMDBFiles.dataName
    let snapshot: (any StorageSnapshot)? = try LMDBFiles.reading(path) { file in
      let (snapshot, header) = try pinnedState(file, path)
      return try withoutActuallyEscaping(report) { report in
        let isSound = try LMDBTreeCheck(file, header, .everything, report).run()
        return isSound ? snapshot : nil
      }
    }
    // LMDB may end the process at a damaged page.
    try snapshot?.verifyByReading(report)
  }

  /// A snapshot of the newest state, and its header, which the second commit after it overwrites.
  private func pinnedState(_ file: Int32, _ path: String) throws -> (any StorageSnapshot, LMDBHeader) {
    for _ in 0..<100 {
      let snapshot = try snapshot()
      if let pinned = snapshot as? LMDBSnapshot,
        let header = try LMDBHeader.read(file, path, ofTransaction: UInt64(pinned.version))
      {
        return (snapshot, header)
      }
    }
    throw PersistenceError(
      .busy, "other writers commit too often to check the store; retry when they pause", location: location)
  }
}
