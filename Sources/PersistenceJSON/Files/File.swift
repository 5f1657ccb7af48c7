import PersistenceDriver

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An open file.
final class File: Sendable {
  let descriptor: Int32
  let path: String

  init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit { close(descriptor) }

  /// The whole content.
  func read() throws -> [UInt8] {
    let size = try status().size
    var bytes: [UInt8] = []
    var offset = 0
    // One byte more than the size, so that a file that does not grow is read by one call and a check for its end.
    var room = size + 1
    while true {
      let start = bytes.count
      bytes.append(contentsOf: repeatElement(0, count: room))
      let count = bytes.withUnsafeMutableBytes { bytes in
        pread(
          descriptor, UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).baseAddress, room,
          off_t(offset))
      }
      guard count >= 0 else {
        if errno == EINTR {
          bytes.removeLast(room)
          continue
        }
        throw SystemFailure("read the file", path)
      }
      bytes.removeLast(room - count)
      offset += count
      if count == 0 || (count < room && bytes.count == size) { return bytes }
      room = max(4096, room - count)
    }
  }

  /// Writes a content from the beginning.
  func write(_ bytes: [UInt8]) throws {
    try write(bytes, at: 0)
  }

  func write(_ bytes: [UInt8], at start: Int) throws {
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
        return pwrite(descriptor, rest.baseAddress, rest.count, off_t(start + offset))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw SystemFailure("write the file", path) }
      offset += count
    }
  }

  /// Makes sure that the content survives the loss of power.
  func synchronize() throws {
    #if canImport(Darwin)
      // fsync does not reach the medium there.
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    if fsync(descriptor) != 0 { throw SystemFailure("synchronise the file", path) }
  }

  /// What the file system knows of the file.
  func status() throws -> FileStatus {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemFailure("look at the file", path) }
    return FileStatus(status)
  }
}

/// What the file system knows of a file: equal as long as nobody changed or replaced it.
struct FileStatus: Hashable, Sendable {
  let size: Int
  let inode: UInt64
  let modifiedSeconds: Int
  let modifiedNanoseconds: Int

  init(_ status: stat) {
    size = Int(status.st_size)
    inode = UInt64(status.st_ino)
    #if canImport(Darwin)
      modifiedSeconds = Int(status.st_mtimespec.tv_sec)
      modifiedNanoseconds = Int(status.st_mtimespec.tv_nsec)
    #else
      modifiedSeconds = Int(status.st_mtim.tv_sec)
      modifiedNanoseconds = Int(status.st_mtim.tv_nsec)
    #endif
  }

  /// Whether the content was changed after a moment.
  func isModified(after moment: FileTime) -> Bool {
    (modifiedSeconds, modifiedNanoseconds) > (moment.seconds, moment.nanoseconds)
  }
}

/// A moment on the clock that the kernel stamps files with.
///
/// The stamps may tick more coarsely than the clock, so a file changed just after a moment may seem to be older; one
/// changed before it never seems to be newer.
struct FileTime: Sendable {
  let seconds: Int
  let nanoseconds: Int

  static var now: FileTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return FileTime(seconds: Int(time.tv_sec), nanoseconds: Int(time.tv_nsec))
  }
}

extension Folder {
  /// What the file system knows of a file; nil where there is none.
  func status(of name: String) throws -> FileStatus? {
    var status = stat()
    if fstatat(descriptor, name, &status, 0) == 0 { return FileStatus(status) }
    if errno == ENOENT { return nil }
    throw SystemFailure("look at the file", path(of: name))
  }
}
