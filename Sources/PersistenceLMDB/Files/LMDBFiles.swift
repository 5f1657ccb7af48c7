import CLMDB
import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceKeyValue

#if os(Linux)
  import CFileSystem
#endif

extension FileIdentity {
  init(_ status: stat) { self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)) }

  /// The identity of an open file.
  init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  /// The identity of the file at a path; nil if there is none.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }
}

/// A store's folder and its files: LMDB's `data.mdb` and `lock.mdb`, and the writer locks.
///
/// Links may lead to the folder. LMDB always receives the resolved path, so all openings share its locks.
struct LMDBFiles: Sendable {
  static let dataName = "data.mdb"
  static let lockName = "lock.mdb"

  /// The folder's path with links resolved.
  let directory: String
  /// The path of the data file.
  let dataPath: String
  let identity: FileIdentity
  /// The header of the data file; nil if it is new.
  private(set) var header: LMDBHeader?
  /// The identity of the lock file before LMDB opens it; nil if it is not known.
  private(set) var lock: FileIdentity?
  /// Whether the name of the data file is known to survive a loss of power.
  private var isNameDurable = false

  /// Finds a store's files, and creates missing ones if the configuration allows it.
  init(path: String, _ configuration: LMDBConfiguration) throws {
    let mayCreate = configuration.createsMissingStore && !configuration.isReadOnly
    let link = path + "/" + Self.dataName
    var status = stat()
    var isNew = false
    // The data file of an existing store shows that the path is a folder. An empty path would be that of the root.
    var isFound = !path.isEmpty && stat(link, &status) == 0
    if !isFound {
      isNew = try Self.makeFolder(path, mayCreate: mayCreate)
      isFound = stat(link, &status) == 0
    }
    if isFound {
      let data = try Self.resolved(link)
      guard data.hasSuffix("/" + Self.dataName) else {
        throw PersistenceError(
          .notAStore,
          "data.mdb links to a file with another name, where LMDB would not find its locks; name the file data.mdb",
          location: path)
      }
      directory = String(data.dropLast(Self.dataName.count + 1))
    } else {
      let code = errno
      guard code == ENOENT else { throw Self.failure(code, path) }
      directory = try Self.resolved(path)
      try Self.requireNothingElse(in: directory)
      try Self.requireNoRemains(in: directory)
      guard mayCreate else { throw Self.failure(ENOENT, path) }
      do {
        isNameDurable = try LMDBCreation.make(in: directory, configuration)
      } catch {
        // It stays if another process has begun to create the store.
        if isNew { rmdir(directory) }
        throw error
      }
      guard stat(directory + "/" + Self.dataName, &status) == 0 else { throw Self.failure(errno, path) }
    }
    dataPath = directory + "/" + Self.dataName
    identity = FileIdentity(status)
  }

  /// Throws unless a path is a folder, or makes it if it is missing and may be created; returns whether it did.
  private static func makeFolder(_ path: String, mayCreate: Bool) throws -> Bool {
    var status = stat()
    var isNew = false
    if stat(path, &status) != 0 {
      let code = errno
      guard code == ENOENT, mayCreate else { throw failure(code, path) }
      isNew = mkdir(path, 0o755) == 0
      guard isNew || errno == EEXIST else {
        throw LMDBFailure(code: errno, action: "create the store's folder").error(location: path)
      }
      guard stat(path, &status) == 0 else { throw failure(errno, path) }
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw PersistenceError(
        .notAStore,
        "an LMDB store is a folder, but this path refers to a file; the file was not changed; use another path",
        location: path)
    }
    return isNew
  }

  /// The files with the current header, and the settings for opening them.
  ///
  /// It throws if they are no store, or cannot be written as required.
  func prepared(_ configuration: LMDBConfiguration) throws -> (LMDBFiles, LMDBSettings) {
    var settings = LMDBSettings(configuration)
    var files = self
    let refusal = try files.readHeader()
    do {
      if let refusal { throw refusal }
      files.lock = try Self.reserve(directory + "/" + Self.lockName, readers: settings.maximumReaders) {
        // Alone after a loss of power, the lock file would say that the store has lost its data.
        if !isNameDurable { try Self.synchronize(directory) }
      }
    } catch let error as PersistenceError {
      guard configuration.isReadOnly else { throw error.at(location: directory) }
      settings.isReadOnly = true
    }
    return (files, settings)
  }

  /// The files with the current header, and with the lock file that LMDB will find.
  func refreshed() throws -> LMDBFiles {
    var files = self
    files.header = try LMDBHeader.read(dataPath)
    files.lock = nil
    return files
  }

  /// Throws if another program has removed or replaced the data file: LMDB would go on writing to the old one (contract E8).
  func requireInPlace() throws {
    var status = stat()
    guard stat(dataPath, &status) == 0 else {
      throw errno == ENOENT ? PersistenceError.removedStore(directory) : Self.failure(errno, directory)
    }
    guard FileIdentity(status) == identity else { throw PersistenceError.removedStore(directory) }
  }

  /// The identity of LMDB's lock file; nil if there is none, as on a read-only file system.
  var lockIdentity: FileIdentity? { FileIdentity(directory + "/" + Self.lockName) }

  private static func failure(_ code: Int32, _ path: String) -> PersistenceError {
    LMDBFailure(code: code, action: "find the store").error(location: path)
  }

  private static func resolved(_ path: String) throws -> String {
    guard let resolved = realpath(path, nil) else { throw failure(errno, path) }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Throws if the folder contains other files, since a store must not be created among them.
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
          "the folder contains other files and no LMDB store; it was not changed; use the path of a new folder",
          location: directory)
      }
    }
  }

  /// Throws if the folder is that of a store without its data.
  ///
  /// LMDB's lock file appears once the name of the data file is durable, so that a creation that ends early, or a loss of
  /// power, does not leave it alone.
  private static func requireNoRemains(in directory: String) throws {
    guard access(directory + "/" + lockName, F_OK) == 0,
      // Another process may have created the store in the meantime.
      access(directory + "/" + dataName, F_OK) != 0
    else { return }
    throw PersistenceError(
      .damaged,
      "the file \(dataName) is missing beside \(lockName), which a store has left; nothing was changed; restore "
        + "\(dataName) from a backup, or remove the folder to begin an empty store", location: directory)
  }

  /// Reads the header of the data file, and returns the reason if the file cannot be written.
  private mutating func readHeader() throws -> PersistenceError? {
    var file = open(dataPath, O_RDWR | O_CLOEXEC)
    let code = file < 0 ? errno : 0
    if file < 0 { file = open(dataPath, O_RDONLY | O_CLOEXEC) }
    guard file >= 0 else {
      throw LMDBFailure(code: errno, action: "open the store").error(location: dataPath)
    }
    defer { close(file) }
    header = try LMDBHeader.read(file, dataPath)
    switch code {
    case 0: return nil
    case EACCES, EPERM, EROFS: return PersistenceError.readOnly(directory)
    default: return LMDBFailure(code: code, action: "open the store").error(location: directory)
    }
  }

  /// Allocates the blocks of LMDB's lock file before LMDB maps it: a write to a mapped page on a full disk
  /// kills the process.
  ///
  /// The file does not grow while a process has it open, which would look for readers beyond its map.
  ///
  /// - Parameters:
  ///   - path: The path of the lock file.
  ///   - readers: The number of readers for which it has room.
  ///   - beforeCreating: What is done before a missing file is created.
  /// - Returns: The identity of the file; nil if the system does not need its blocks allocated.
  /// - Throws: ``PersistenceError`` if the file cannot be created or its blocks be allocated, and errors of the closure.
  @discardableResult
  static func reserve(
    _ path: String, readers: Int, beforeCreating: () throws -> Void = {}
  ) throws -> FileIdentity? {
    #if os(Linux)
      let length = (readers + 8) * 64
      var status = stat()
      // Most openings find a file that an earlier one has made.
      let isMissing = stat(path, &status) != 0
      if !isMissing, status.st_size >= length, hasBlocks(status) { return FileIdentity(status) }
      if isMissing { try beforeCreating() }
      func failure(_ code: Int32) -> PersistenceError {
        LMDBFailure(code: code, action: "create the reader table").error(location: path)
      }
      let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
      guard file >= 0 else { throw failure(errno) }
      defer { close(file) }
      guard fstat(file, &status) == 0 else { throw failure(errno) }
      var size = Int(status.st_size)
      // LMDB locks the first byte of the file while a process has the store open.
      if size < length, !isLocked(file) { size = length }
      if status.st_size == 0 { c_replace_blocks(file) }
      if status.st_size != size || !hasBlocks(status) {
        let code = posix_fallocate(file, 0, off_t(size))
        guard code == 0 || code == EOPNOTSUPP || code == EINVAL else { throw failure(code) }
      }
      return FileIdentity(status)
    #else
      if access(path, F_OK) != 0 { try beforeCreating() }
      return nil
    #endif
  }

  #if os(Linux)
    /// Whether all bytes of a file have blocks.
    private static func hasBlocks(_ status: stat) -> Bool {
      Int(status.st_blocks) * 512 >= Int(status.st_size)
    }

    /// Whether an open environment, of this process or another, has locked the first byte of a file.
    private static func isLocked(_ file: Int32) -> Bool {
      var lock = flock()
      lock.l_type = Int16(F_WRLCK)
      lock.l_whence = Int16(SEEK_SET)
      lock.l_len = 1
      return fcntl(file, Int32(C_F_OFD_GETLK), &lock) != 0 || lock.l_type != Int16(F_UNLCK)
    }
  #endif

  /// Syncs the folder of a store, and its parent.
  static func synchronize(_ directory: String) throws {
    let parent = directory.lastIndex(of: "/").map { String(directory[...$0]) } ?? "."
    for folder in [directory, parent] {
      let file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard file >= 0 else { continue }  // an unreadable folder cannot be synced
      defer { close(file) }
      guard fsync(file) == 0 || errno == EINVAL else {
        throw LMDBFailure(code: errno, action: "sync the store's folder").error(location: directory)
      }
    }
  }

  /// Calls a closure with the descriptor of a file.
  static func reading<Result>(_ path: String, _ body: (Int32) throws -> Result) throws -> Result {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw LMDBFailure(code: errno, action: "open the store").error(location: path) }
    defer { close(file) }
    return try body(file)
  }

  /// Whether the disk of a path has less than 1 MiB of free space.
  static func isDiskFull(_ path: String) -> Bool {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return false }
    return Double(status.f_bavail) * Double(status.f_frsize) < 0x1p20
  }
}
