import Foundation
import PersistenceDriver

/// A file without a name, for bytes that do not fit into memory: it is gone when it is let go or the process ends,
/// however that ends.
final class ScratchFile {
  private let file: Int32
  private let folder: String

  /// How many bytes were written.
  private(set) var count = 0

  /// Makes the file.
  ///
  /// - Parameter folder: A folder on the medium that is to hold the bytes.
  /// - Throws: ``PersistenceError`` where the system refuses.
  init(in folder: String) throws {
    self.folder = folder
    let path = "\(folder)/sorting-\(UUID().uuidString)"
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Self.failure(errno, "make a file to sort in", folder) }
    unlink(path)
  }

  deinit { close(file) }

  /// Writes bytes at the end.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/storeFull`` where there is no room.
  func append(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes
    while !rest.isEmpty {
      let written = pwrite(file, rest.baseAddress, rest.count, off_t(count))
      if written < 0, errno == EINTR { continue }
      guard written > 0 else {
        throw Self.failure(written < 0 ? errno : ENOSPC, "write down what is being sorted", folder)
      }
      count += written
      rest = UnsafeRawBufferPointer(rebasing: rest[written...])
    }
  }

  /// Reads bytes from a place on, as many as there is room for or there are.
  ///
  /// - Returns: How many were read.
  /// - Throws: ``PersistenceError`` where the medium fails.
  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    var done = 0
    while done < buffer.count {
      let found = pread(
        file, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset + done))
      if found < 0, errno == EINTR { continue }
      guard found >= 0 else { throw Self.failure(errno, "read what is being sorted", folder) }
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
      "the system could not \(action) (\(reason))" + (isFull ? "; make space and try again" : ""),
      location: folder)
  }
}
