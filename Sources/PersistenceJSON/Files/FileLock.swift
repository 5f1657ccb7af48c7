import Foundation
import PersistenceDriver

#if os(Linux)
  import CFileSystem
#endif

/// Byte-range locks that belong to the open file: they also exclude other descriptors of this process, and
/// the kernel releases them when the process dies.
extension File {
  enum LockKind { case shared, exclusive, none }

  /// Acquires or releases a lock on a byte without waiting; returns whether that succeeded.
  func lock(_ kind: LockKind, byte: UInt64) throws -> Bool {
    var request = Self.request(kind, start: byte, length: 1)
    if fcntl(descriptor, Self.setCommand, &request) == 0 { return true }
    if errno == EAGAIN || errno == EACCES { return false }
    throw SystemFailure("lock the file", path)
  }

  /// The byte of any lock of another descriptor below a bound; nil if there is none.
  func lockedByte(below bound: UInt64) throws -> UInt64? {
    guard bound > 0 else { return nil }
    var request = Self.request(.exclusive, start: 0, length: bound)
    guard fcntl(descriptor, Self.getCommand, &request) == 0 else {
      throw SystemFailure("look at the locks of", path)
    }
    return request.l_type == Int16(F_UNLCK) ? nil : UInt64(request.l_start)
  }

  private static func request(_ kind: LockKind, start: UInt64, length: UInt64) -> flock {
    var request = flock()
    switch kind {
    case .shared: request.l_type = Int16(F_RDLCK)
    case .exclusive: request.l_type = Int16(F_WRLCK)
    case .none: request.l_type = Int16(F_UNLCK)
    }
    request.l_whence = Int16(SEEK_SET)
    request.l_start = off_t(start)
    request.l_len = off_t(length)
    return request
  }

  #if canImport(Darwin)
    private static let setCommand = F_OFD_SETLK
    private static let getCommand = F_OFD_GETLK
  #else
    private static let setCommand = Int32(C_F_OFD_SETLK)
    private static let getCommand = Int32(C_F_OFD_GETLK)
  #endif
}
