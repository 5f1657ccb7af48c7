import Foundation
import PersistenceDriver

/// The number of a commit, and the offset at which its batch ends.
struct LogHead: Sendable {
  var commit = 0
  var end = LogFile.start
}

/// The file of a store: two headers, then the batch of each commit, all with checksums.
///
/// A header names a commit whose batch is on the medium. Commits use the headers in turn, each in a block of its own,
/// so that a torn write leaves the other one.
final class LogFile: Sendable {
  /// The offset of the first batch.
  static let start = 2 * block
  private static let block = 4096
  private static let mark = Array("OrderedFile 1\n\0\0".utf8)

  let path: String
  let isReadOnly: Bool
  private let descriptor: Int32

  init(path: String, isReadOnly: Bool, flags: Int32 = 0) throws {
    (self.path, self.isReadOnly) = (path, isReadOnly)
    // Non-blocking, because opening a pipe would block until another process writes to it.
    descriptor = open(path, (isReadOnly ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK | flags, 0o644)
    try check(Int(descriptor), "open")
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw PersistenceError(.notAStore, "\(path) is no regular file; check the path", location: path)
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Creates an empty store in one step, unless there is a file at the path already.
  static func create(at path: String) throws {
    let draft = try LogFile(path: "\(path).\(UUID())", isReadOnly: false, flags: O_CREAT | O_EXCL)
    defer { unlink(draft.path) }
    try draft.name(LogHead())
    try draft.truncate(to: start)
    if link(draft.path, path) != 0, errno != EEXIST { try draft.check(-1, "create") }
    let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
    defer { close(folder) }
    try draft.check(Int(fsync(folder)), "synchronize the folder of")
  }

  /// The newest commit that a header names.
  func head() throws -> LogHead {
    // Other processes may write both headers between the reads.
    for _ in 0..<100 {
      let heads = try [0, Self.block].compactMap { offset -> LogHead? in
        guard let header = try read(40, at: offset).unsealed, header.starts(with: Self.mark) else {
          return nil
        }
        return LogHead(commit: header.word(at: 16), end: header.word(at: 24))
      }
      if let newest = heads.max(by: { $0.commit < $1.commit }) { return newest }
    }
    guard try [0, Self.block].contains(where: { try read(16, at: $0 + 8) == Self.mark }) else {
      throw PersistenceError(
        .notAStore, "the file is no store of OrderedFile; check the path", location: path)
    }
    throw PersistenceError.damaged("both headers of the store are damaged").at(location: path)
  }

  /// Writes the header of a commit, which is visible from here on.
  func name(_ head: LogHead) throws {
    try write((Self.mark + [head.commit, head.end].bytes).sealed, at: head.commit % 2 * Self.block)
  }

  /// The batch after a commit; nil if it is not in the file, whole and undamaged.
  func batch(after head: LogHead, before end: Int) throws -> (writes: ArraySlice<UInt8>, end: Int)? {
    let front = try read(24, at: head.end)
    guard front.count == 24, 0...max(0, end - head.end) ~= front.word(at: 16),
      let batch = try read(24 + front.word(at: 16), at: head.end).unsealed,
      batch.word(at: 0) == head.commit + 1
    else { return nil }
    return (batch[16...], head.end + 8 + batch.count)
  }

  /// Writes the batch of the next commit, and waits until it is on the medium.
  func append(_ writes: [UInt8], after head: LogHead) throws -> LogHead {
    let batch = ([head.commit + 1, writes.count].bytes + writes).sealed
    try write(batch, at: head.end)
    try synchronize()
    return LogHead(commit: head.commit + 1, end: head.end + batch.count)
  }

  /// The size of the file; throws if the path refers to it no more.
  func size() throws -> Int {
    var (own, named) = (stat(), stat())
    try check(Int(fstat(descriptor, &own)), "inspect")
    try check(Int(stat(path, &named)), "find")
    guard own.st_ino == named.st_ino, own.st_dev == named.st_dev else {
      throw PersistenceError(
        .missingStore, "another file has replaced the store; open it again", location: path)
    }
    return Int(own.st_size)
  }

  /// Waits to be the only writer, or beside none if the file is read-only; returns false after the deadline.
  func lock(until deadline: ContinuousClock.Instant) throws -> Bool {
    while flock(descriptor, (isReadOnly ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
      if errno != EWOULDBLOCK, errno != EINTR { try check(-1, "lock") }
      guard ContinuousClock.now < deadline else { return false }
      usleep(500)
    }
    return true
  }

  func unlock() { flock(descriptor, LOCK_UN) }

  func truncate(to size: Int) throws {
    try check(Int(ftruncate(descriptor, off_t(size))), "cut")
    try synchronize()
  }

  /// Waits until all writes are on the medium.
  func synchronize() throws {
    #if canImport(Darwin)
      // On Darwin, fsync does not flush the drive's cache.
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    try check(Int(fsync(descriptor)), "synchronize")
  }

  /// Reads bytes at an offset; fewer if the file ends before.
  private func read(_ wanted: Int, at offset: Int) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
      while count < wanted {
        let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
        let new = try check(pread(descriptor, rest.baseAddress, rest.count, off_t(offset + count)), "read")
        guard new > 0 else { return }
        count += new
      }
    }
  }

  private func write(_ bytes: [UInt8], at offset: Int) throws {
    var done = 0
    while done < bytes.count {
      done += try bytes[done...].withUnsafeBytes { rest in
        try check(pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done)), "write")
      }
    }
  }

  @discardableResult
  private func check(_ result: Int, _ attempt: String) throws -> Int {
    guard result < 0 else { return result }
    throw PersistenceError.system(errno, while: attempt, at: path)
  }
}
