import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

/// The folders and files of a store.
///
/// ```
/// movies/
///   movie/                      one folder per model, one file per record
///     42.json
///   .persistence/
///     catalog.json              the models' schemas
///     lock                      held by the one writer
///     sequence                  the versions, see VersionSequence
///     pins                      the versions being read, see VersionPins
///     stage/                    new files of the commit in progress
///     journal/7.json            a committed version, removed once it is in place
///     history/7/                its manifest, and the files before it, by number
///     index/movie               the cached values of indexed fields, see ModelIndex
///     checksums/movie.3f.json   the checksums of some of the records, see ChecksumLedger
///     checksums/complete        the mark of the checksums of all records
/// ```
final class StoreFolder: Sendable {
  static let controlName = ".persistence"
  static let catalogName = "catalog.json"

  let root: Folder
  let control: Folder
  /// The path of the root, which does not change with the working directory.
  private let absolutePath: String
  let isReadOnly: Bool
  let sequence: VersionSequence
  let pins: VersionPins
  /// The lock of writers; nil if the store is read-only.
  let lock: WriterLock?
  /// The lock that marks the store as used; nil if the file is missing from a read-only store.
  private let use: WriterLock?
  /// The files by which the processes exclude each other.
  private let shared: [(file: File, identity: FileIdentity)]
  let layouts = RecordLayouts()
  /// The number of record files opened.
  let openings = Atomic<Int>(0)
  private let indexes = Mutex<[String: ModelIndex]>([:])
  private let step: @Sendable (String) throws -> Void
  private let folders = Mutex<[String: Known]>([:])
  private let ownFolders = Mutex<[String: Folder]>([:])
  private let catalogs = Mutex<(status: FileStatus, catalog: Catalog)?>(nil)

  private struct Known {
    var folder: Folder
    /// Whether this process has made the folder's name durable.
    var isDurable = false
  }

  var location: String { root.path }

  init(
    path: String, mayCreate: Bool, isReadOnly: Bool, busyTimeout: Duration = .seconds(5),
    step: @escaping @Sendable (String) throws -> Void
  ) throws {
    self.isReadOnly = isReadOnly
    self.step = step
    absolutePath =
      path.utf8.first == UInt8(ascii: "/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    root = try Self.openRoot(path, mayCreate: mayCreate && !isReadOnly)
    control = try Self.openControl(in: root, mayCreate: mayCreate && !isReadOnly, path, step)
    if !isReadOnly { try LinkedFiles(control: control, location: path).separate(timeout: busyTimeout) }
    let flags = isReadOnly ? O_RDONLY : O_RDWR | O_CREAT
    // First: nobody replaces the others of a store that is in use.
    let turns = try WriterLock.used(in: control, flags, timeout: busyTimeout, location: path)
    use = turns.map(WriterLock.init)
    guard let numbers = try control.open(VersionSequence.name, flags),
      let mine = try control.open(VersionPins.name, flags),
      let all = try control.open(VersionPins.name, O_RDONLY)
    else {
      throw PersistenceError(
        .notAStore, "the folder's \(Self.controlName) is incomplete, so it is not a valid store",
        location: path)
    }
    sequence = try VersionSequence(numbers)
    pins = VersionPins(mine: mine, all: all)
    guard !isReadOnly, let turns else {
      (lock, shared) = (nil, [])
      return
    }
    lock = use
    shared = try [turns, numbers, mine].map { ($0, try $0.identity()) }
    // Reserved now, since a committed version must not need more space.
    try sequence.reserve()
    for name in [Journal.stageName, Journal.journalName, Journal.historyName] {
      _ = try control.makeFolder(name)
    }
    // All names must survive a power failure before any commit returns, whoever made the folders.
    try control.synchronize()
    try root.synchronize()
    try root.synchronizeName()
  }

  /// Throws if another program has removed or replaced the store: its files would go to a folder without a name (contract E8).
  func requireInPlace() throws {
    guard try root.isStill(at: absolutePath), try control.isStill(Self.controlName, in: root) else {
      throw PersistenceError.removedStore(location)
    }
  }

  /// Throws if another program has removed or replaced the lock, the version numbers or the pins: another writer may be
  /// at work, or readers whose pins this one does not see.
  ///
  /// The caller holds the writer lock.
  func requireSharedFiles() throws {
    for (file, identity) in shared where try !file.isStill(identity, in: control) {
      throw PersistenceError.removedStore(location)
    }
  }

  /// Throws if the catalog is missing beside records.
  func requireCatalog() throws {
    func isMissing() throws -> Bool { try control.status(of: Self.catalogName) == nil }
    guard try isMissing() else { return }
    var hasRecords = try sequence.committed > 0
    if !hasRecords {
      // The version numbers may be missing too.
      hasRecords = try root.names().contains { name in
        guard FileName.isFolder(name), let folder = try? root.folder(name) else { return false }
        return try folder.names().contains { $0.hasSuffix(FileName.suffix) }
      }
      // The first commit of another process moves its files after it has begun.
      guard try sequence.applying == 0 else { return }
    }
    guard try hasRecords && isMissing() else { return }
    throw Catalog.missing(at: location)
  }

  private static func openRoot(_ path: String, mayCreate: Bool) throws -> Folder {
    do {
      return try Folder(path: path)
    } catch let failure as SystemFailure where failure.number == ENOENT && mayCreate {
      if mkdir(path, 0o777) != 0, errno != EEXIST { throw SystemFailure("make the folder", path) }
      return try Folder(path: path)
    }
  }

  private static func openControl(
    in root: Folder, mayCreate: Bool, _ path: String, _ step: (String) throws -> Void
  ) throws -> Folder {
    if let control = try root.folder(controlName) { return control }
    try step("no store")
    let isEmpty = try root.names().isEmpty
    // Another process may have created the store since, and have put records into it.
    if let control = try root.folder(controlName) { return control }
    guard isEmpty else {
      throw PersistenceError(
        .notAStore,
        "the folder has files but no \(controlName), so it is not a store of this package; choose an empty "
          + "folder, and import the files", location: path)
    }
    guard mayCreate else {
      throw PersistenceError(
        .missingStore, "the folder is empty, and the options do not create a store", location: path)
    }
    return try root.makeFolder(controlName)
  }

  /// A folder inside the store; nil if there is none.
  func folder(_ name: String) throws -> Folder? {
    if name == Self.controlName { return control }
    if let known = folders.withLock({ $0[name]?.folder }), try known.isStill(name, in: root) { return known }
    guard let folder = try root.folder(name) else { return nil }
    folders.withLock { $0[name] = Known(folder: folder) }
    return folder
  }

  /// A folder inside the control folder; nil if there is none.
  func ownFolder(_ name: String) throws -> Folder? {
    if let known = ownFolders.withLock({ $0[name] }), try known.isStill(name, in: control) { return known }
    let folder = try control.folder(name)
    ownFolders.withLock { $0[name] = folder }
    return folder
  }

  /// The content of a file in a folder of the store; nil if there is none.
  func contents(
    of file: String, in folder: Folder, through buffer: UnsafeMutableRawBufferPointer? = nil
  ) throws -> (bytes: [UInt8], status: FileStatus)? {
    let isControl = folder === control || file.utf8.first == UInt8(ascii: ".")
    if !isControl { openings.add(1, ordering: .relaxed) }
    return try folder.contents(of: file, through: buffer)
  }

  /// The index of a folder.
  func index(of folder: String, _ fields: IndexedFields) -> ModelIndex {
    indexes.withLock { indexes in
      if let index = indexes[folder], index.keeps(fields) { return index }
      let file = IndexFile(
        control: control, store: UInt64(root.inode), name: folder, isReadOnly: isReadOnly, step: step)
      let index = ModelIndex(fields, file)
      indexes[folder] = index
      return index
    }
  }

  /// Runs a closure; if the disk is full, runs it again without the indexes, which are only caches.
  func makingRoom<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let failure as SystemFailure where failure.isLackOfSpace {
      guard try removeIndexes() else { throw failure }
      return try body()
    }
  }

  /// Removes the index files; returns whether there were any.
  private func removeIndexes() throws -> Bool {
    guard let folder = try? control.folder(IndexFile.folderName) else { return false }
    return try folder.names().map { (try? folder.remove($0)) ?? false }.contains(true)
  }

  /// Removes the folder and the index of a dropped model.
  ///
  /// The folder stays if it contains files of other programs. Readers of earlier versions find its records in
  /// the history.
  func forget(_ folder: String) {
    folders.withLock { $0[folder] = nil }
    try? root.removeFolder(folder)
    if let known = try? control.folder(IndexFile.folderName) { _ = try? known.remove(folder) }
  }

  /// The cached catalog, if it was read from a file of this status.
  func catalog(of status: FileStatus) -> Catalog? {
    catalogs.withLock { $0.flatMap { $0.status == status ? $0.catalog : nil } }
  }

  /// Caches a catalog for readers of the same file.
  func keep(_ catalog: Catalog, of status: FileStatus) {
    if status.isSettled { catalogs.withLock { $0 = (status, catalog) } }
  }

  /// A folder inside the store, created if it is missing, whose name survives a loss of power.
  func makeFolder(_ name: String) throws -> Folder {
    let known = try folder(name)
    // A folder that was removed and created again is another one.
    if let known, folders.withLock({ $0[name].map { $0.isDurable && $0.folder === known } }) == true {
      return known
    }
    let folder = try known ?? root.makeFolder(name)
    // Also for an existing one: whoever created it may have failed here.
    try step("synchronise names")
    try (name == ChecksumLedger.folderName ? control : root).synchronize()
    folders.withLock { $0[name] = Known(folder: folder, isDurable: true) }
    return folder
  }
}
