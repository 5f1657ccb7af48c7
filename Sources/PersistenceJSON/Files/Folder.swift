import Foundation
import PersistenceDriver

#if os(Linux)
  import CFileSystem
#endif

/// File operations in one open folder, with errors that name the operation.
///
/// The engine opens everything below a store's folder through descriptors of open folders, and never builds
/// paths. So a name that was checked once cannot lead elsewhere later.
final class Folder: Sendable {
  let descriptor: Int32
  let path: String
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

  convenience init(path: String) throws {
    let descriptor = Foundation.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemFailure("open the folder", path) }
    try self.init(descriptor: descriptor, path: path)
  }

  /// Opens a folder inside this one; nil if there is none.
  func folder(_ name: String) throws -> Folder? {
    let inner = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if inner < 0, errno == ENOENT { return nil }
    guard inner >= 0 else { throw SystemFailure("open the folder", path(of: name)) }
    return try Folder(descriptor: inner, path: path(of: name))
  }

  /// Opens a folder inside this one, and creates it if it is missing.
  func makeFolder(_ name: String) throws -> Folder {
    if mkdirat(descriptor, name, 0o777) != 0, errno != EEXIST {
      throw SystemFailure("make the folder", path(of: name))
    }
    guard let folder = try folder(name) else { throw SystemFailure("open the folder", path(of: name)) }
    return folder
  }

  func path(of name: String) -> String { "\(path)/\(name)" }

  /// Opens a file; nil if there is none and the flags do not create it.
  func open(_ name: String, _ flags: Int32) throws -> File? {
    // A name that is passed as a string would be copied into an array first.
    let file = name.withCString { openat(descriptor, $0, flags | O_CLOEXEC, 0o666) }
    if file < 0, errno == ENOENT, flags & O_CREAT == 0 { return nil }
    guard file >= 0 else { throw SystemFailure("open the file", path(of: name)) }
    return File(descriptor: file, name: name, in: path)
  }

  /// The whole content of a file; nil if there is none.
  func read(_ name: String) throws -> [UInt8]? { try contents(of: name)?.bytes }

  /// The whole content of a file and its status; nil if there is none.
  func contents(
    of name: String, through buffer: UnsafeMutableRawBufferPointer? = nil
  ) throws -> (bytes: [UInt8], status: FileStatus)? {
    // Without O_NONBLOCK, opening a pipe would wait for its writer.
    try open(name, O_RDONLY | O_NONBLOCK)?.contents(through: buffer)
  }

  func write(_ bytes: [UInt8], to name: String, synchronized: Bool) throws {
    try File.requireReadable(size: bytes.count, of: "the file \(path(of: name))")
    guard let file = try open(name, O_WRONLY | O_CREAT | O_TRUNC) else { return }
    try file.write(bytes)
    if synchronized { try file.synchronize() }
  }

  /// Moves a file, replacing the file of the new name; returns whether there was a file to move.
  func move(_ name: String, to folder: Folder, as newName: String) throws -> Bool {
    if renameat(descriptor, name, folder.descriptor, newName) == 0 { return true }
    if errno == ENOENT { return false }
    throw SystemFailure("move a file to", folder.path(of: newName))
  }

  /// Throws if files of another folder cannot be moved into this one.
  ///
  /// Moving a missing file tells whether both folders have one mount, which Linux examines first.
  func requireMoves(from folder: Folder) throws {
    let missing = ".missing"
    if device != folder.device {
      errno = EXDEV
      throw SystemFailure("move files to the folder", path)
    }
    _ = try folder.move(missing, to: self, as: missing)
    if faccessat(descriptor, ".", W_OK | X_OK, AT_EACCESS) != 0 {
      throw SystemFailure("write to the folder", path)
    }
  }

  /// Creates a hard link to a file, or a copy if that is impossible, unless the name exists.
  ///
  /// - Returns: Whether there was a file.
  func keep(_ name: String, in folder: Folder, as newName: String) throws -> Bool {
    // A symbolic link itself could lead elsewhere from the other folder.
    if linkat(descriptor, name, folder.descriptor, newName, AT_SYMLINK_FOLLOW) == 0 { return true }
    switch errno {
    case ENOENT: return false
    case EEXIST: return true
    case EPERM, EOPNOTSUPP, ENOSYS, EMLINK, EXDEV:
      guard let (bytes, status) = try contents(of: name),
        let copy = try folder.open(newName, O_WRONLY | O_CREAT | O_TRUNC)
      else { return false }
      try copy.write(bytes)
      try copy.setModified(status.modified)
      return true
    default: throw SystemFailure("link a file to", folder.path(of: newName))
    }
  }

  @discardableResult
  func remove(_ name: String) throws -> Bool {
    if unlinkat(descriptor, name, 0) == 0 { return true }
    if errno == ENOENT { return false }
    throw SystemFailure("remove the file", path(of: name))
  }

  func removeFolder(_ name: String) throws {
    if unlinkat(descriptor, name, AT_REMOVEDIR) != 0, errno != ENOENT {
      throw SystemFailure("remove the folder", path(of: name))
    }
  }

  /// Whether a name in another folder still refers to this folder, which may have been moved or replaced.
  func isStill(_ name: String, in folder: Folder) throws -> Bool {
    var there = stat()
    guard fstatat(folder.descriptor, name, &there, 0) == 0 else {
      if errno == ENOENT { return false }
      throw SystemFailure("look at the folder", path)
    }
    return inode == there.st_ino && device == there.st_dev
  }

  /// Whether a path still leads to this folder.
  func isStill(at path: String) throws -> Bool {
    var there = stat()
    guard stat(path, &there) == 0 else {
      if errno == ENOENT || errno == ENOTDIR { return false }
      throw SystemFailure("look at the folder", path)
    }
    return inode == there.st_ino && device == there.st_dev
  }

  /// The names of all entries, unordered.
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

  /// Flushes the folder, so that its names survive a power failure.
  func synchronize() throws {
    if fsync(descriptor) != 0 { throw SystemFailure("synchronise the folder", path) }
  }

  /// Flushes the folder that contains this one, so that the name of this one survives a power failure.
  ///
  /// A mount point has no name there, and a user may lack the permission to open the containing folder.
  func synchronizeName() throws {
    let parent: Folder?
    do {
      parent = try self.folder("..")
    } catch let failure as SystemFailure where failure.isMissingPermission {
      return
    }
    guard let parent, parent.device == device else { return }
    try parent.synchronize()
  }

  /// Flushes the file system of this folder, so that all writes survive a power failure.
  func synchronizeFileSystem() throws {
    #if os(Linux)
      if syncfs(descriptor) != 0 { throw SystemFailure("synchronise the file system of", path) }
    #elseif canImport(Darwin)
      // Unlike sync, it waits, and reaches the medium.
      if fsync_volume_np(descriptor, SYNC_VOLUME_FULLSYNC | SYNC_VOLUME_WAIT) != 0 { sync() }
    #else
      sync()
    #endif
  }
}
