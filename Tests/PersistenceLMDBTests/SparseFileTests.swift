import Foundation
import Testing

@testable import PersistenceLMDB

@Suite("Sparse data files")
struct SparseFileTests {
  @Test("E5 the check of a sparse file needs no memory for the pages that no tree uses")
  func hugeFile() throws {
    let scratch = try Scratch()
    let context = try scratch.open()
    try context.save((0..<50).map { ("\($0)", "text") }, try Scratch.schema())
    try context.close()
    let path = scratch.data.path
    let found = try LMDBHeader.read(path)
    // Few file systems allow a file of this size, so only the header has it.
    let header = LMDBHeader(
      pageSize: found.pageSize, mapSize: found.mapSize, lastPage: 1 << 50, fileSize: .max,
      transaction: found.transaction, freelist: found.freelist, main: found.main)
    for scope in [LMDBTreeCheck.Scope.catalog, .structure, .everything] {
      try LMDBFiles.reading(path) { file in
        try LMDBTreeCheck.require(file, header, scope, location: path)
      }
    }
  }

  @Test("E5 a second use of a page is found wherever the page lies", arguments: [0, 100, 1 << 50])
  func twice(denseCount: Int) {
    var pages = LMDBPageSet(denseCount: denseCount)
    for page in [2, 63, 64, 99, 127, 128, 1 << 26, 1 << 50] {
      let (first, second) = (pages.insert(page), pages.insert(page))
      #expect(first && !second, "page \(page)")
    }
  }
}
