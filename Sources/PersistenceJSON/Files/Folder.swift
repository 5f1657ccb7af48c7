import Foundation
import PersistenceDriver

#if os(Linux)
  import CFileSystem
#endif

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The operating system's calls on files of one open folder, with errors that say what was tried.
///
/// Everything below a store's folder is reached through descriptors of open folders, never by building paths: a
/// name that was checked once cannot lead elsewhere later.
final class Folder: Sendable {
  let descriptor: Int32
  /// Where the folder is, for messages.
  let path: String
  /// What tells the folder from others of its file system.
  let inode: ino_t
  let device: dev_t

  private init(descriptor: Int32, path: String) throws {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      defer { close(descriptor) }
      throw SystemFailure("look at the folder", path)
    }
    self.descriptor = descriptor
    self.path = path
    inode = status.st_ino
    device = status.st_dev
  }

  deinit { close(descriptor) }

  /// The system's call, apart from the method of the same name.
  private static func open(_ path: String, _ flags: Int32) -> Int32 {
    #if canImport(Darwin)
      Darwin.open(path, flags)
    #elseif canImport(Glibc)
      Glibc.open(path, flags)
    #else
      Musl.open(path, flags)
    #endif
  }

  /// Opens a folder by its path.
  convenience init(path: String) throws {
    let descriptor = Self.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemFailure("open the folder", path) }
    try self.init(descriptor: descriptor, path: path)
  }

  /// Opens a folder inside this one; nil where there is none.
  func folder(_ name: String) throws -> Folder? {
    let inner = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if inner < 0, errno == ENOENT { return nil }
    guard inner >= 0 else { throw SystemFailure("open the folder", path(of: name)) }
    return try Folder(descriptor: inner, path: path(of: name))
  }

  /// Makes a folder inside this one, unless it is there, and opens it.
  func makeFolder(_ name: String) throws -> Folder {
    if mkdirat(descriptor, name, 0o777) != 0, errno != EEXIST {
      throw SystemFailure("make the folder", path(of: name))
    }
    guard let folder = try folder(name) else { throw SystemFailure("open the folder", path(of: name)) }
    return folder
  }

  func path(of name: String) -> String { "\(path)/\(name)" }

  /// Opens a file; nil where there is none and it was not to be made.
  func open(_ name: String, _ flags: Int32) throws -> File? {
    let file = openat(descriptor, name, flags | O_CLOEXEC, 0o666)
    if file < 0, errno == ENOENT, flags & O_CREAT == 0 { return nil }
    guard file >= 0 else { throw SystemFailure("open the file", path(of: name)) }
    return File(descriptor: file, name: name, in: path)
  }

  /// The whole content of a file; nil where there is none.
  func read(_ name: String) throws -> [UInt8]? { try contents(of: name)?.bytes }

  /// The whole content of a file and its status; nil where there is none.
  func contents(of name: String) throws -> (bytes: [UInt8], status: FileStatus)? {
    // A pipe that somebody put there is not waited for.
    try open(name, O_RDONLY | O_NONBLOCK)?.contents()
  }

  /// Makes a file with a content.
  func write(_ bytes: [UInt8], to name: String, synchronized: Bool) throws {
    guard let file = try open(name, O_WRONLY | O_CREAT | O_TRUNC) else { return }
    try file.write(bytes)
    if synchronized { try file.synchronize() }
  }

  /// Moves a file, replacing what has the new name; says whether there was one to move.
  func move(_ name: String, to folder: Folder, as newName: String) throws -> Bool {
    if renameat(descriptor, name, folder.descriptor, newName) == 0 { return true }
    if errno == ENOENT { return false }
    throw SystemFailure("move a file to", folder.path(of: newName))
  }

  /// Gives a file a second name, or a copy where the file system has no links; does nothing where the second
  /// name is taken.
  ///
  /// - Returns: Whether there was a file.
  func keep(_ name: String, in folder: Folder, as newName: String) throws -> Bool {
    if linkat(descriptor, name, folder.descriptor, newName, 0) == 0 { return true }
    switch errno {
    case ENOENT: return false
    case EEXIST: return true
    case EPERM, EOPNOTSUPP, ENOSYS, EMLINK:
      guard let (bytes, status) = try contents(of: name),
        let copy = try folder.open(newName, O_WRONLY | O_CREAT | O_TRUNC)
      else { return false }
      try copy.write(bytes)
      try copy.setModified(status.modified)
      return true
    default: throw SystemFailure("link a file to", folder.path(of: newName))
    }
  }

  /// Removes a file; says whether there was one.
  @discardableResult
  func remove(_ name: String) throws -> Bool {
    if unlinkat(descriptor, name, 0) == 0 { return true }
    if errno == ENOENT { return false }
    throw SystemFailure("remove the file", path(of: name))
  }

  /// Removes an empty folder.
  func removeFolder(_ name: String) throws {
    if unlinkat(descriptor, name, AT_REMOVEDIR) != 0, errno != ENOENT {
      throw SystemFailure("remove the folder", path(of: name))
    }
  }

  /// Whether this is still what a name in another folder stands for: folders are removed, moved and replaced.
  func isStill(_ name: String, in folder: Folder) throws -> Bool {
    var there = stat()
    guard fstatat(folder.descriptor, name, &there, 0) == 0 else {
      if errno == ENOENT { return false }
      throw SystemFailure("look at the folder", path)
    }
    return inode == there.st_ino && device == there.st_dev
  }

  /// The names of everything in the folder, in no order.
  func names() throws -> [String] {
    let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let stream = fdopendir(copy) else { throw SystemFailure("list the folder", path) }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else { break }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    guard errno == 0 else { throw SystemFailure("list the folder", path) }
    return names
  }

  /// Makes sure that the names in the folder survive the loss of power.
  func synchronize() throws {
    if fsync(descriptor) != 0 { throw SystemFailure("synchronise the folder", path) }
  }

  /// Makes sure that everything written to the file system of this folder survives the loss of power.
  func synchronizeFileSystem() throws {
    #if os(Linux)
      if syncfs(descriptor) != 0 { throw SystemFailure("synchronise the file system of", path) }
    #else
      sync()
    #endif
  }
}
