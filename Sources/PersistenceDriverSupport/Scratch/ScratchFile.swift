import Foundation
import PersistenceDriver

/// An unnamed temporary file; the system deletes it when it is closed or the process ends.
package final class ScratchFile {
  private let file: Int32
  private let folder: String

  /// The number of bytes.
  package private(set) var count = 0

  /// Creates the file on the file system of a folder.
  package init(in folder: String) throws {
    self.folder = folder
    let path = "\(folder)/persistence-\(UUID().uuidString)"
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Self.failure(errno, "create a temporary file", folder) }
    unlink(path)
  }

  deinit { close(file) }

  /// Writes bytes to the end.
  package func append(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes
    while !rest.isEmpty {
      let written = pwrite(file, rest.baseAddress, rest.count, off_t(count))
      if written < 0, errno == EINTR { continue }
      guard written > 0 else {
        throw Self.failure(written < 0 ? errno : ENOSPC, "write the temporary file", folder)
      }
      count += written
      rest = UnsafeRawBufferPointer(rebasing: rest[written...])
    }
  }

  /// Reads bytes from an offset until the buffer or the file ends; returns their number.
  package func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    var done = 0
    while done < buffer.count {
      let found = pread(
        file, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset + done))
      if found < 0, errno == EINTR { continue }
      guard found >= 0 else { throw Self.failure(errno, "read the temporary file", folder) }
      if found == 0 { break }
      done += found
    }
    return done
  }

  private static func failure(_ code: Int32, _ action: String, _ folder: String) -> PersistenceError {
    let isFull = code == ENOSPC || code == EDQUOT || code == EFBIG
    let reason = String(cString: strerror(code))
    return PersistenceError(
      isFull ? .storeFull : .inputOutput,
      "the system could not \(action) (\(reason))" + (isFull ? "; free space and retry" : ""),
      location: folder)
  }
}
