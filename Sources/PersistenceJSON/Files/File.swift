import Foundation
import PersistenceDriver

final class File: Sendable {
  let descriptor: Int32
  private let folder: String
  private let name: String

  /// The file's path, for messages: built lazily, since most reads succeed.
  var path: String { "\(folder)/\(name)" }

  init(descriptor: Int32, name: String, in folder: String) {
    self.descriptor = descriptor
    self.folder = folder
    self.name = name
  }

  deinit { close(descriptor) }

  /// The whole content at one moment, and the file's status at that moment.
  ///
  /// - Throws: ``PersistenceError`` with code `damaged` if this is not a regular file.
  func contents() throws -> (bytes: [UInt8], status: FileStatus) {
    // One call reads most files, because they are small.
    let start = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { buffer in
      let count = pread(descriptor, buffer.baseAddress, buffer.count, 0)
      return count >= 0 && count < buffer.count ? [UInt8](buffer[..<count]) : nil
    }
    var before = try status()
    guard before.isRegular else { throw PersistenceError.damaged("\(path) is no ordinary file") }
    if let start, start.count == before.size { return (start, before) }
    // A concurrent change in place would mix old and new content.
    for _ in 0..<100 {
      let bytes = try read(expecting: before.size)
      let after = try status()
      if after == before, bytes.count == before.size { return (bytes, after) }
      before = after
    }
    throw PersistenceError(.changedOutside, "\(path) was changed by hand again and again while it was read")
  }

  private func read(expecting size: Int) throws -> [UInt8] { try read(size, at: 0) }

  /// The bytes from a position on; fewer at the end of the file.
  func read(_ size: Int, at start: Int) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size {
        let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
        let new = pread(descriptor, rest.baseAddress, rest.count, off_t(start + count))
        if new < 0, errno == EINTR { continue }
        guard new >= 0 else { throw SystemFailure("read the file", path) }
        guard new > 0 else { return }
        count += new
      }
    }
  }

  /// Sets the modification time, so that a copy has that of its original.
  func setModified(_ time: FileTime) throws {
    let time = timespec(tv_sec: time.seconds, tv_nsec: time.nanoseconds)
    guard futimens(descriptor, [time, time]) == 0 else {
      throw SystemFailure("set the time of the file", path)
    }
  }

  /// Reserves space for the first bytes, and keeps their content.
  func reserve(_ count: Int) throws {
    #if canImport(Darwin)
      guard try status().size < count, ftruncate(descriptor, off_t(count)) != 0 else { return }
      throw SystemFailure("make room in the file", path)
    #else
      let number = posix_fallocate(descriptor, 0, off_t(count))
      guard number != 0 else { return }
      errno = number
      throw SystemFailure("make room in the file", path)
    #endif
  }

  func write(_ bytes: [UInt8], at start: Int = 0) throws {
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

  /// Flushes the content, so that it survives a power failure.
  func synchronize() throws {
    #if canImport(Darwin)
      // On Darwin, fsync does not reach the medium.
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    if fsync(descriptor) != 0 { throw SystemFailure("synchronise the file", path) }
  }

  func status() throws -> FileStatus {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemFailure("look at the file", path) }
    return FileStatus(status)
  }
}

extension Folder {
  /// The status of a file; nil if there is none.
  func status(of name: String) throws -> FileStatus? {
    var status = stat()
    if fstatat(descriptor, name, &status, 0) == 0 { return FileStatus(status) }
    if errno == ENOENT { return nil }
    throw SystemFailure("look at the file", path(of: name))
  }
}
