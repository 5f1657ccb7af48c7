import Foundation
import PersistenceDriver

/// The store's file, which commits replace as a whole, so an open descriptor always reads one state.
struct StoreFile: Sendable {
  let path: String

  /// The file that a commit writes before it replaces the store; a killed process may leave one behind.
  private var draftPath: String { path + ".new" }

  /// Whether there is anything at the path.
  func exists() throws -> Bool {
    var status = stat()
    if stat(path, &status) == 0 { return true }
    guard errno == ENOENT else { throw PersistenceError.system(errno, while: "inspect", at: path) }
    return false
  }

  /// Reads the header, which shows whether the cached state is stale.
  func header() throws -> StoreHeader {
    try withFile(O_RDONLY) { descriptor, _ in
      let bytes = try read(descriptor, StoreHeader.size)
      return try bytes.withUnsafeBytes { try StoreHeader($0) }
    }
  }

  /// Reads the whole file.
  func read() throws -> (header: StoreHeader, state: StoreState) {
    let content = try withFile(O_RDONLY) { descriptor, status in
      let bytes = try read(descriptor, Int(status.st_size))
      return try bytes.withUnsafeBytes { try StoreCoding.decode($0) }
    }
    // Its writer may not have done so yet, and a power failure must not undo what a reader has seen.
    try synchronizeFolder()
    return content
  }

  /// Replaces the content atomically and durably: after a kill or a power failure, the file has the old content or
  /// the new one (contract W5).
  ///
  /// The caller holds the lock.
  ///
  /// - Returns: Whether a killed process had left a draft, which is removed.
  func replace(with bytes: [UInt8]) throws -> Bool {
    // A rename would also replace a file that this process may not write, so check first.
    let mode = try exists() ? withFile(O_RDWR) { _, status in status.st_mode & 0o777 } : 0o644
    let hadDraft = unlink(draftPath) == 0
    let descriptor = open(draftPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else {
      throw PersistenceError.system(errno, while: "create the file", at: draftPath)
    }
    do {
      defer { close(descriptor) }
      try write(bytes, to: descriptor)
      try synchronize(descriptor)
      guard rename(draftPath, path) == 0 else {
        throw PersistenceError.system(errno, while: "replace the file", at: path)
      }
    } catch {
      unlink(draftPath)
      throw error
    }
    do {
      try synchronizeFolder()
    } catch var error as PersistenceError {
      // The new content is in place, and a power failure may undo that.
      error.code = .outcomeUnknown
      throw error
    }
    return hadDraft
  }

  /// Runs a closure while no other process, and no other context of this process, may write.
  ///
  /// The lock is on a separate file, because commits replace the store itself. The kernel releases the lock if its
  /// holder dies.
  func withLock<Result>(
    until deadline: ContinuousClock.Instant, timeout: Duration, _ body: () throws -> Result
  ) throws -> Result {
    let lockPath = path + ".lock"
    let descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw PersistenceError.system(errno, while: "open the lock", at: lockPath) }
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else {
        throw PersistenceError.system(errno, while: "lock", at: lockPath)
      }
      guard ContinuousClock.now < deadline else { throw PersistenceError.busy(path, waited: timeout) }
      usleep(1000)
    }
    return try body()
  }
}

extension StoreFile {
  private func withFile<Result>(_ flags: Int32, _ body: (Int32, stat) throws -> Result) throws -> Result {
    // Non-blocking, because opening a pipe would block until another process writes to it.
    let descriptor = open(path, flags | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw PersistenceError.system(errno, while: "open", at: path) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw PersistenceError.system(errno, while: "inspect", at: path)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw PersistenceError(.notAStore, "\(path) is not a regular file; check the path", location: path)
    }
    do {
      return try body(descriptor, status)
    } catch let error as PersistenceError {
      throw error.at(location: path)
    }
  }

  /// Reads the first bytes of a file; fewer if the file is shorter.
  private func read(_ descriptor: Int32, _ size: Int) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size {
        let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
        let new = pread(descriptor, rest.baseAddress, rest.count, off_t(count))
        if new < 0, errno == EINTR { continue }
        guard new >= 0 else { throw PersistenceError.system(errno, while: "read", at: path) }
        guard new > 0 else { return }
        count += new
      }
    }
  }

  private func write(_ bytes: [UInt8], to descriptor: Int32) throws {
    try bytes.withUnsafeBytes { bytes in
      var offset = 0
      while offset < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
        let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw PersistenceError.system(errno, while: "write the file", at: draftPath) }
        offset += count
      }
    }
  }

  private func synchronize(_ descriptor: Int32) throws {
    #if canImport(Darwin)
      // On Darwin, fsync does not flush the drive's cache.
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    guard fsync(descriptor) == 0 else {
      throw PersistenceError.system(errno, while: "synchronize the file", at: draftPath)
    }
  }

  /// Makes a rename durable, also that of another process.
  func synchronizeFolder() throws {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw PersistenceError.system(errno, while: "open the folder", at: folder) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else {
      throw PersistenceError.system(errno, while: "synchronize the folder", at: folder)
    }
  }
}
