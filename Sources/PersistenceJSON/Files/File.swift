import Foundation
import PersistenceDriver
import PersistenceDriverSupport

final class File: Sendable {
  /// The size limit of files that are read and written as a whole.
  ///
  /// The size of a damaged or sparse file may exceed any memory.
  static let sizeLimit = 1 << 30

  /// The size of the memory through which one call reads most files, because they are small.
  static let bufferSize = 4096

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
  /// A caller that reads several files passes memory of ``bufferSize`` bytes for all of them.
  ///
  /// - Throws: ``PersistenceError`` with code `damaged` if this is not a regular file, or larger than ``sizeLimit``.
  func contents(
    through buffer: UnsafeMutableRawBufferPointer? = nil
  ) throws -> (bytes: [UInt8], status: FileStatus) {
    guard let buffer else {
      return try withUnsafeTemporaryAllocation(byteCount: Self.bufferSize, alignment: 16) { buffer in
        try contents(through: buffer)
      }
    }
    let count = pread(descriptor, buffer.baseAddress, buffer.count, 0)
    var before = try status()
    guard before.isRegular else { throw PersistenceError.damaged("\(path) is not a regular file") }
    if count == before.size, count < buffer.count { return ([UInt8](buffer[..<count]), before) }
    // A concurrent change in place would mix old and new content.
    for _ in 0..<100 {
      guard before.size <= Self.sizeLimit else {
        throw PersistenceError.damaged(
          "\(path) has \(before.size) bytes; a file of a store has at most \(Self.sizeLimit)")
      }
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

  func status() throws -> FileStatus {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemFailure("look at the file", path) }
    return FileStatus(status)
  }

  /// Whether a name in a folder still refers to this file, whose identity it had when it was opened.
  func isStill(_ identity: FileIdentity, in folder: Folder) throws -> Bool {
    var there = stat()
    if fstatat(folder.descriptor, name, &there, 0) == 0 { return FileIdentity(there) == identity }
    if errno == ENOENT { return false }
    throw SystemFailure("look at the file", path)
  }

  func identity() throws -> FileIdentity {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemFailure("look at the file", path) }
    return FileIdentity(status)
  }
}

extension FileIdentity {
  init(_ status: stat) {
    self.init(device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino))
  }
}

extension Folder {
  /// The status of a file; nil if there is none.
  func status(of name: String) throws -> FileStatus? {
    var status = stat()
    // A name that is passed as a string would be copied into an array first.
    if name.withCString({ fstatat(descriptor, $0, &status, 0) }) == 0 { return FileStatus(status) }
    if errno == ENOENT { return nil }
    throw SystemFailure("look at the file", path(of: name))
  }
}
