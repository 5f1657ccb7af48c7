import CSQLite
import Foundation
import PersistenceConformance
import PersistenceDriver
import Testing

@testable import PersistenceSQLite

@Suite("E7: full disks")
struct FullDiskTests {
  /// Whether this process may mount file systems of its own.
  static let canMount: Bool = {
    guard let disk = try? SmallDisk("persistence-probe-\(getpid())") else { return false }
    disk.unmount()
    return true
  }()

  @Test(
    "E7 opening a store on a full disk whose blocks are smaller than pages throws storeFull, and never ends the process",
    .enabled(if: canMount, "it takes the right to mount a file system"))
  func sharedMemory() async throws {
    // If the process ends by a signal, this one unmounts its disk.
    defer { SmallDisk.remove("persistence-full-1024-\(getpid())") }
    await #expect(processExitsWith: .success) { try FullDiskTests.openOnFullDisk(blocks: 1_024) }
  }

  @Test(
    "E7 opening a store on a full disk whose blocks are pages throws storeFull, and never ends the process",
    .enabled(if: canMount, "it takes the right to mount a file system"))
  func reservedMemory() async throws {
    defer { SmallDisk.remove("persistence-full-4096-\(getpid())") }
    await #expect(processExitsWith: .success) { try FullDiskTests.openOnFullDisk(blocks: 4_096) }
  }

  /// Opens a store and writes to it with little free space, in a process of its own, whose parent removes the disk.
  private static func openOnFullDisk(blocks: Int) throws {
    let disk = try SmallDisk("persistence-full-\(blocks)-\(getppid())", blocks: blocks)
    defer { disk.unmount() }
    let path = disk.folder.appendingPathComponent("store.sqlite").path
    let schema = try Fixtures.movies()
    let row: [PersistentValue] = [.integer(1), .text("One"), .null, .integer(1), .null]
    let configuration = SQLiteConfiguration(synchronous: .off)
    let context = try SQLiteContext(path: path, configuration: configuration)
    try context.fill(schema, [row])
    try context.close()
    var full = 0
    for free in stride(from: 0, through: 36, by: 3) {
      try disk.fill(leaving: free << 10)
      do {
        let context = try SQLiteContext(path: path, configuration: configuration)
        defer { try? context.close() }
        guard try context.values(FetchRequest(schema)) == [row] else { exit(2) }
        try context.fill(schema, [row])
      } catch let error as PersistenceError {
        guard error.code == .storeFull else { throw error }
        full += 1
      }
    }
    try disk.clear()
    let again = try SQLiteContext(path: path, configuration: configuration)
    guard try again.values(FetchRequest(schema)) == [row], full > 0 else { exit(3) }
    try again.close()
  }

  @Test(
    "W5 E7 the log's index reports a full disk by an error of its own when it grows, since the log may hold the commit",
    .enabled(if: canMount, "it takes the right to mount a file system"))
  func growingIndex() throws {
    let disk = try SmallDisk("persistence-index-\(getpid())")
    defer { disk.unmount() }
    let codes = try Self.extendIndex(in: disk.folder.appendingPathComponent("store.sqlite").path) {
      try disk.fill(leaving: 0)
    }
    #expect(codes == [SQLITE_IOERR | 19 << 8, SQLITE_FULL])
  }

  @Test("W5 an index that cannot grow is an unknown outcome only after a commit was written to the log")
  func limitedIndex() async {
    await #expect(processExitsWith: .success) {
      let scratch = try Scratch()
      let codes = try FullDiskTests.extendIndex(in: scratch.path()) { FullDiskTests.limitFiles(to: 40_000) }
      FullDiskTests.limitFiles(to: .max)
      let (map, open): (Int32, Int32) = (21, 18)
      #expect(codes == [SQLITE_IOERR | map << 8, SQLITE_IOERR | open << 8])
      let error = SQLiteErrorMapping.error(codes[1], nil, "run a statement", "store.sqlite").ofCommit
      #expect(error.code == .inputOutput)
    }
  }

  /// Limits the size of the files that this process writes; writes beyond it fail with EFBIG.
  private static func limitFiles(to size: rlim_t) {
    signal(SIGXFSZ, SIG_IGN)
    #if os(Linux)
      let kind = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    #else
      let kind = RLIMIT_FSIZE
    #endif
    var limit = rlimit()
    getrlimit(kind, &limit)
    limit.rlim_cur = min(size, limit.rlim_max)
    setrlimit(kind, &limit)
  }

  /// Extends the index of a log where there is no space, after a commit and before the next one.
  ///
  /// - Returns: The codes of both attempts; the file is closed.
  private static func extendIndex(in path: String, _ makeFull: () throws -> Void) throws -> [Int32] {
    let store = SQLiteStore(path: path, configuration: SQLiteConfiguration(synchronous: .off))
    let connection = try SQLiteConnection(store, creating: true)
    try connection.execute("PRAGMA journal_mode = wal; CREATE TABLE other (x)", "make a table")
    var file: UnsafeMutablePointer<sqlite3_file>?
    sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    let map = try #require(file?.pointee.pMethods?.pointee.xShmMap)
    try makeFull()
    var region: UnsafeMutableRawPointer?
    let committed = map(file, 1, 32_768, 1, &region)
    try connection.requireInPlace()
    return withExtendedLifetime(connection) { [committed, map(file, 1, 32_768, 1, &region)] }
  }
}

/// An ext4 file system of 3 MiB; its blocks are smaller than a page of memory by default.
private struct SmallDisk {
  struct Failure: Error {}

  let folder: URL
  private let name: String
  private var ballast: URL { folder.appendingPathComponent("ballast") }

  init(_ name: String, blocks: Int = 1_024) throws {
    self.name = name
    folder = Self.folder(name)
    let image = folder.path + ".image"
    let script = """
      mkdir -p '\(folder.path)' && truncate -s 3m '\(image)' \
      && mke2fs -q -F -t ext4 -b \(blocks) -O ^has_journal -m 0 '\(image)' \
      && mount -o loop '\(image)' '\(folder.path)'
      """
    guard try Self.run(script) else {
      Self.remove(name)
      throw Failure()
    }
  }

  func unmount() { Self.remove(name) }

  static func remove(_ name: String) {
    let folder = folder(name).path
    _ = try? run("umount '\(folder)'; rmdir '\(folder)'; rm -f '\(folder).image'")
  }

  /// Uses all space but some.
  func fill(leaving free: Int) throws {
    let file = open(ballast.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard file >= 0 else { throw Failure() }
    defer { close(file) }
    let block = [UInt8](repeating: 0, count: 1_024)
    var count = 0
    while write(file, block, block.count) == block.count { count += block.count }
    guard ftruncate(file, off_t(max(0, count - free))) == 0 else { throw Failure() }
  }

  func clear() throws { try FileManager.default.removeItem(at: ballast) }

  private static func folder(_ name: String) -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent(name)
  }

  private static func run(_ script: String) throws -> Bool {
    #if os(Linux)
      let (process, _) = try Process.started { process in
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script]
        process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
        process.standardError = FileHandle.nullDevice
      }
      process.waitUntilExit()
      return process.terminationStatus == 0
    #else
      return false
    #endif
  }
}
