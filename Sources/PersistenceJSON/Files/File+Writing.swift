import Foundation
import PersistenceDriver

extension File {
  /// Throws if a text is too long to be read again.
  static func requireReadable(size: Int, of text: @autoclosure () -> String) throws {
    guard size > sizeLimit else { return }
    throw PersistenceError(
      .valueTooLarge,
      "\(text()) has \(size) bytes; a file of a store has at most \(sizeLimit); write smaller values, "
        + "or fewer at once")
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
}
