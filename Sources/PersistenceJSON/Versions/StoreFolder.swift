import Foundation
import PersistenceDriver
import Synchronization

/// The folders and files of a store.
///
/// ```
/// movies/
///   movie/                      one folder a model, one file a record
///     42.json
///   .persistence/
///     catalog.json              the models' schemas
///     lock                      held by the one writer
///     sequence                  the versions, see VersionSequence
///     pins                      the versions being read, see VersionPins
///     stage/                    new files of the transaction being committed
///     journal/7.json            a version that is committed; gone once it is in place
///     history/7/                its manifest, and what its files were before, by number
///     index/movie               what is known of the records without opening their files, see ModelIndex
/// ```
final class StoreFolder: Sendable {
  static let controlName = ".persistence"
  static let catalogName = "catalog.json"

  let root: Folder
  let control: Folder
  let isReadOnly: Bool
  let sequence: VersionSequence
  let pins: VersionPins
  let layouts = RecordLayouts()
  /// How many files of records were opened.
  let openings = Atomic<Int>(0)
  private let indexes = ModelIndexes()
  private let step: @Sendable (String) throws -> Void
  private let folders = Mutex<[String: Folder]>([:])
  private let catalogs = Mutex<(status: FileStatus, catalog: Catalog)?>(nil)

  var location: String { root.path }

  /// Opens a store, or makes one.
  init(
    path: String, mayCreate: Bool, isReadOnly: Bool, step: @escaping @Sendable (String) throws -> Void
  ) throws {
    self.isReadOnly = isReadOnly
    self.step = step
    root = try Self.openRoot(path, mayCreate: mayCreate && !isReadOnly)
    if let control = try root.folder(Self.controlName) {
      self.control = control
    } else {
      // Another process may make the store at this moment.
      let names = try root.names().filter { $0 != Self.controlName }
      guard names.isEmpty else {
        throw PersistenceError(
          .notAStore,
          "the folder holds files but no \(Self.controlName): it is not a store of this package; choose an empty "
            + "folder, and import the files", location: path)
      }
      guard mayCreate, !isReadOnly else {
        throw PersistenceError(
          .missingStore, "the folder is empty: there is no store in it, and none was to be made",
          location: path)
      }
      control = try root.makeFolder(Self.controlName)
    }
    let flags = isReadOnly ? O_RDONLY : O_RDWR | O_CREAT
    guard let numbers = try control.open(VersionSequence.name, flags),
      let mine = try control.open(VersionPins.name, flags),
      let all = try control.open(VersionPins.name, O_RDONLY)
    else {
      throw PersistenceError(
        .notAStore, "the folder's \(Self.controlName) is incomplete: it is not a whole store", location: path)
    }
    sequence = VersionSequence(numbers)
    pins = VersionPins(mine: mine, all: all)
    guard !isReadOnly else { return }
    // Now, since a version that is committed must find room.
    try sequence.reserve()
    for name in [Journal.stageName, Journal.journalName, Journal.historyName] {
      _ = try control.makeFolder(name)
    }
    // The parents' entries survive the loss of power before anything in them is acknowledged.
    try control.synchronize()
    try root.synchronize()
  }

  private static func openRoot(_ path: String, mayCreate: Bool) throws -> Folder {
    do {
      return try Folder(path: path)
    } catch let failure as SystemFailure where failure.number == ENOENT && mayCreate {
      if mkdir(path, 0o777) != 0, errno != EEXIST { throw SystemFailure("make the folder", path) }
      // Not NSString's deletingLastPathComponent: on Linux it traps for a path of one character.
      let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
      try? Folder(path: parent).synchronize()
      return try Folder(path: path)
    }
  }

  /// A folder below the store's; nil where there is none.
  func folder(_ name: String) throws -> Folder? {
    if name == Self.controlName { return control }
    if let known = folders.withLock({ $0[name] }), try known.isStill(name, in: root) { return known }
    guard let folder = try root.folder(name) else { return nil }
    folders.withLock { $0[name] = folder }
    return folder
  }

  /// What a file of the store's folder, or of one below it, holds; nil where there is none.
  func contents(of file: String, in folder: Folder) throws -> (bytes: [UInt8], status: FileStatus)? {
    let isControl = folder === control || file.utf8.first == UInt8(ascii: ".")
    if !isControl { openings.add(1, ordering: .relaxed) }
    return try folder.contents(of: file)
  }

  /// The index of a model's folder.
  func index(of folder: String, _ fields: IndexedFields) -> ModelIndex {
    indexes.index(of: folder, fields) {
      IndexFile(
        control: control, store: UInt64(root.inode), name: folder, isReadOnly: isReadOnly, step: step)
    }
  }

  /// Removes the indexes' files; says whether there were any.
  func removeIndexes() throws -> Bool {
    guard let folder = try? control.folder(IndexFile.folderName) else { return false }
    return try folder.names().map { (try? folder.remove($0)) ?? false }.contains(true)
  }

  /// Removes the folder of a model that is no longer there, and what is known of it.
  ///
  /// It stays where it holds what a person put there; readers of earlier versions find its files in the history.
  func forget(_ folder: String) {
    folders.withLock { $0[folder] = nil }
    try? root.removeFolder(folder)
    if let known = try? control.folder(IndexFile.folderName) { _ = try? known.remove(folder) }
  }

  /// The catalog that was read from a file of this status; nil where that was not the last one.
  func catalog(of status: FileStatus) -> Catalog? {
    catalogs.withLock { $0.flatMap { $0.status == status ? $0.catalog : nil } }
  }

  /// Keeps a catalog for whoever reads the same file.
  func keep(_ catalog: Catalog, of status: FileStatus) {
    if status.isSettled { catalogs.withLock { $0 = (status, catalog) } }
  }

  /// A folder below the store's, made where there is none.
  func makeFolder(_ name: String) throws -> Folder {
    if let folder = try folder(name) { return folder }
    let folder = try root.makeFolder(name)
    try root.synchronize()
    folders.withLock { $0[name] = folder }
    return folder
  }
}
