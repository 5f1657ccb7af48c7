import Foundation
import PersistenceDriver

/// Which file a path leads to.
struct FileIdentity: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}

/// A store's folder and what lies in it: `data.mdb` and `lock.mdb`, which are LMDB's, and the writers' locks.
///
/// The folder may be reached by links; LMDB is always given the one that the file lies in, so that all openings
/// share its locks.
struct LMDBFiles: Sendable {
  static let dataName = "data.mdb"
  static let lockName = "lock.mdb"

  /// The folder's path without links.
  let directory: String
  /// The identity of the data file.
  let identity: FileIdentity
  /// What the data file says about itself; nil where it is new.
  private(set) var header: LMDBHeader?

  var dataPath: String { directory + "/" + Self.dataName }

  /// Finds a store's files, making them where they are not there and that is allowed.
  ///
  /// - Throws: ``PersistenceError``: `missingStore`, `notAStore`, `accessDenied`, `readOnly`, `storeFull`.
  init(path: String, _ configuration: LMDBConfiguration) throws {
    let mayCreate = configuration.createsMissingStore && !configuration.isReadOnly
    var status = stat()
    var isNew = false
    if stat(path, &status) != 0 {
      let code = errno
      guard code == ENOENT, mayCreate else { throw Self.failure(code, path) }
      try Self.makeFolder(path)
      guard stat(path, &status) == 0 else { throw Self.failure(errno, path) }
      isNew = true
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw PersistenceError(
        .notAStore,
        "an LMDB store is a folder, and this path leads to a file; nothing was changed; give another path",
        location: path)
    }
    if stat(path + "/" + Self.dataName, &status) == 0 {
      let data = try Self.resolved(path + "/" + Self.dataName)
      guard data.hasSuffix("/" + Self.dataName) else {
        throw PersistenceError(
          .notAStore, "data.mdb is a link to a file of another name, beside which LMDB finds no locks",
          location: path)
      }
      directory = String(data.dropLast(Self.dataName.count + 1))
    } else {
      let code = errno
      guard code == ENOENT else { throw Self.failure(code, path) }
      directory = try Self.resolved(path)
      try Self.requireNothingElse(in: directory)
      guard mayCreate else { throw Self.failure(ENOENT, path) }
      do {
        try LMDBCreation.make(in: directory, configuration)
      } catch {
        if isNew { Self.removeFolder(directory) }
        throw error
      }
      guard stat(directory + "/" + Self.dataName, &status) == 0 else { throw Self.failure(errno, path) }
    }
    identity = FileIdentity(status)
  }

  /// The files with the header read anew, and how they can be opened.
  ///
  /// - Throws: ``PersistenceError`` where they are no store, or where they must be written to and cannot be.
  func prepared(_ configuration: LMDBConfiguration) throws -> (LMDBFiles, LMDBSettings) {
    var settings = LMDBSettings(configuration)
    let files = try refreshed()
    do {
      try requireWritable()
      try Self.reserve(directory + "/" + Self.lockName, readers: settings.maximumReaders)
    } catch let error as PersistenceError {
      guard configuration.isReadOnly else { throw error.at(location: directory) }
      settings.isReadOnly = true
    }
    return (files, settings)
  }

  /// The files with the header read anew.
  func refreshed() throws -> LMDBFiles {
    var files = self
    files.header = try LMDBHeader.read(dataPath)
    return files
  }

  private static func failure(_ code: Int32, _ path: String) -> PersistenceError {
    LMDBFailure(code: code, action: "find the store").error(location: path)
  }

  private static func resolved(_ path: String) throws -> String {
    guard let resolved = realpath(path, nil) else { throw failure(errno, path) }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private static func makeFolder(_ path: String) throws {
    guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
      throw LMDBFailure(code: errno, action: "make the store's folder").error(location: path)
    }
  }

  /// Removes a folder that was made for a store that could not be.
  private static func removeFolder(_ directory: String) {
    for name in LMDBCreation.names { unlink(directory + "/" + name) }
    rmdir(directory)
  }

  /// A folder that holds anything else is not turned into a store.
  private static func requireNothingElse(in directory: String) throws {
    let known = Set(LMDBCreation.names)
    guard let folder = opendir(directory) else { throw failure(errno, directory) }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name == "." || name == ".." || known.contains(name) else {
        throw PersistenceError(
          .notAStore,
          "the folder holds other files and no LMDB store; nothing was changed; give the path of a new folder",
          location: directory)
      }
    }
  }

  private func requireWritable() throws {
    let file = open(dataPath, O_RDWR | O_CLOEXEC)
    if file >= 0 {
      close(file)
      return
    }
    let code = errno
    if code == EACCES || code == EPERM || code == EROFS, access(dataPath, R_OK) == 0 {
      throw PersistenceError.readOnly(directory)
    }
    throw LMDBFailure(code: code, action: "open the store").error(location: directory)
  }

  /// Gives a file of LMDB's locks its blocks before LMDB maps it: a write to a mapped page that the disk has no
  /// room for kills the process.
  static func reserve(_ path: String, readers: Int) throws {
    #if os(Linux)
      func check(_ code: Int32) throws {
        if code != 0 {
          throw LMDBFailure(code: code, action: "make the readers' table").error(location: path)
        }
      }
      let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
      guard file >= 0 else { return try check(errno) }
      defer { close(file) }
      var status = stat()
      guard fstat(file, &status) == 0 else { return try check(errno) }
      let size = max(Int(status.st_size), (readers + 8) * 64)
      // Blocks that it has, it keeps.
      if status.st_size == size, Int(status.st_blocks) * 512 >= size { return }
      let code = posix_fallocate(file, 0, off_t(size))
      try check(code == EOPNOTSUPP || code == EINVAL ? 0 : code)
    #endif
  }

  /// Makes the entries of a new store's folder, and of its parent, durable.
  static func synchronize(_ directory: String) throws {
    let parent = directory.lastIndex(of: "/").map { String(directory[...$0]) } ?? "."
    for folder in [directory, parent] {
      let file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard file >= 0 else { continue }  // a folder that may not be read cannot be synchronised by us
      defer { close(file) }
      guard fsync(file) == 0 || errno == EINVAL else {
        throw LMDBFailure(code: errno, action: "make the store durable").error(location: directory)
      }
    }
  }

  /// Whether the disk that a path lies on has hardly any room left.
  static func isDiskFull(_ path: String) -> Bool {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return false }
    return UInt64(status.f_bavail) * UInt64(status.f_frsize) < 1 << 20
  }
}
