import Foundation
import PersistenceCore

/// Calls of the file system for one store, with typed errors: each write is durable when it returns.
///
/// After a synchronization that fails, the outcome is unknown: the system may have dropped what was written.
struct PlainFiles {
  /// The store's path, for errors.
  let store: String

  func read(_ path: String) throws -> Data {
    let file = try opened(path, O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: try Int(status(path).st_size))
    var count = 0
    while count < bytes.count {
      let read = bytes.withUnsafeMutableBytes { buffer in
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
        return pread(file, rest.baseAddress, rest.count, off_t(count))
      }
      guard try checked(read, "read") > 0 else { break }
      count += read
    }
    return Data(bytes.prefix(count))
  }

  func write(_ bytes: Data, to path: String, at offset: Int) throws {
    let file = try opened(path, O_WRONLY)
    defer { close(file) }
    try write(bytes, to: file, at: offset)
  }

  func cut(_ path: String, to length: Int) throws {
    let file = try opened(path, O_WRONLY)
    defer { close(file) }
    _ = try checked(Int(ftruncate(file, off_t(length))), "cut off")
    try synchronize(file)
  }

  /// Replaces a file, or creates it: after a loss of power, one of the two is whole.
  func replace(_ path: String, with bytes: Data) throws {
    let new = path + ".new"
    let file = try opened(new, O_WRONLY | O_CREAT | O_TRUNC)
    defer { close(file) }
    try write(bytes, to: file, at: 0)
    _ = try checked(Int(rename(new, path)), "rename")
    do {
      let folder = try opened(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY)
      defer { close(folder) }
      try synchronize(folder)
    } catch {
      // The new name may be durable.
      throw PersistenceError(.outcomeUnknown, "\(error)", location: store)
    }
  }

  func status(_ path: String) throws -> stat {
    var status = stat()
    _ = try checked(Int(stat(path, &status)), "find")
    return status
  }

  private func write(_ bytes: Data, to file: Int32, at offset: Int) throws {
    let bytes = Array(bytes)
    var count = 0
    while count < bytes.count {
      let written = bytes.withUnsafeBytes { buffer in
        let rest = UnsafeRawBufferPointer(rebasing: buffer[count...])
        return pwrite(file, rest.baseAddress, rest.count, off_t(offset + count))
      }
      count += try checked(written, "write")
    }
    try synchronize(file)
  }

  private func synchronize(_ file: Int32) throws {
    guard fsync(file) != 0 else { return }
    throw PersistenceError(
      .outcomeUnknown, "a file of the log cannot be synchronized: error \(errno)", location: store)
  }

  private func opened(_ path: String, _ flags: Int32) throws -> Int32 {
    Int32(try checked(Int(open(path, flags | O_CLOEXEC, 0o644)), "open"))
  }

  /// The result of a call; throws the error of a failed one.
  private func checked(_ result: Int, _ action: String) throws -> Int {
    guard result < 0 else { return result }
    let number = errno
    let code: PersistenceError.Code =
      switch number {
      case ENOENT, ENOTDIR: .missingStore
      case EACCES, EPERM, EROFS: .accessDenied
      case ENOSPC, EDQUOT: .storeFull
      default: .inputOutput
      }
    throw PersistenceError(code, "cannot \(action) a file of the log: error \(number)", location: store)
  }
}
