import Foundation
import PersistenceDriver

extension LMDBEnvironment {
  /// The largest store whose pages every opening checks, in about 0.03 ms.
  private static var smallSize: Int { 256 << 10 }
  /// The same after the death of another process that had the store open, in about 8 ms.
  private static var abandonedSize: Int { 64 << 20 }

  /// Checks the pages that an opening reads, and those of a small store, before LMDB follows them.
  static func checkPages(
    _ handle: LMDBHandle, _ files: LMDBFiles, _ checks: LMDBConfiguration.Checks, wasAbandoned: Bool
  ) throws {
    let reader = try LMDBReader(handle)
    defer { reader.close() }
    if try checkSmallStore(reader, files) { return }
    try checkPages(of: reader, files) { header in
      let limit = wasAbandoned ? abandonedSize : smallSize
      return checks == .structure || header.usedSize <= limit ? .structure : .catalog
    }
  }

  /// Checks all pages of a small store, which one call reads; returns false if the store is not small, or has changed since
  /// its header was read.
  private static func checkSmallStore(_ reader: LMDBReader, _ files: LMDBFiles) throws -> Bool {
    guard let header = files.header, header.usedSize <= smallSize,
      header.transaction == UInt64(reader.version)
    else { return false }
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: header.usedSize, alignment: MemoryLayout<UInt64>.alignment)
    defer { buffer.deallocate() }
    // A page that the system cannot read is read by itself, and named, if a tree has it.
    let count = max(0, pread(reader.handle.file, buffer.baseAddress, buffer.count, 0))
    let content = UnsafeRawBufferPointer(rebasing: buffer[..<count])
    // The second time that the header is read, and the first since the reader holds its state.
    guard try header.isHeader(of: content, files.dataPath) else { return false }
    try LMDBTreeCheck.require(
      reader.handle.file, content: content, header, .structure, location: files.dataPath)
    return true
  }

  /// Checks all pages of the newest state of an open store.
  func checkAllPages() throws {
    let reader = try acquireReader()
    defer { release(reader) }
    try Self.checkPages(of: reader, files) { _ in .structure }
  }

  private static func checkPages(
    of reader: LMDBReader, _ files: LMDBFiles, _ scope: (LMDBHeader) -> LMDBTreeCheck.Scope
  ) throws {
    let file = reader.handle.file
    for _ in 0..<100 {
      let version = UInt64(reader.version)
      if let header = try LMDBHeader.read(file, files.dataPath, ofTransaction: version) {
        return try LMDBTreeCheck.require(file, header, scope(header), location: files.dataPath)
      }
      // The second commit after the reader has overwritten the header.
      reader.reset()
      try reader.renew()
    }
    throw PersistenceError(
      .busy, "other writers commit too often to check the store; retry when they pause",
      location: files.directory)
  }
}
