import Foundation

/// Writing to file descriptors.
enum FileDescriptor {
  /// Writes all bytes; where that fails, it says no, and ``lastError`` why.
  static func put(_ bytes: UnsafeRawBufferPointer, into descriptor: Int32) -> Bool {
    var rest = bytes
    while let start = rest.baseAddress, !rest.isEmpty {
      let count = write(descriptor, start, rest.count)
      if count < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        return false
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return true
  }

  /// What the operating system said last.
  static var lastError: String { String(cString: strerror(errno)) }
}
