import Foundation
import PersistenceDriver

/// The paths that a command reads and writes: prevents an output from overwriting an input or another output.
///
/// A command adds all paths before it opens any of them.
struct PathConflicts {
  private struct Entry {
    /// The role, for messages, for example `the source` or `--report`.
    let name: String
    let path: String
    let isStore: Bool
    let isWritten: Bool
    /// The path and the engine's companion files.
    let files: [FileLocation]
    /// The URL's scheme and path, and the options that choose a store, if it has no local files.
    var remote: [String] = []
  }

  private let stores: ToolStores
  private var entries: [Entry] = []

  init(_ stores: ToolStores) { self.stores = stores }

  /// Adds a store.
  ///
  /// - Throws: `PersistenceError` if the URL is invalid; ``ToolFailure`` on a conflict.
  mutating func addStore(_ text: String, as name: String, isWritten: Bool = false) throws {
    let url = try stores.check(text)
    guard !url.path.isEmpty else { return }
    let hasFiles = stores.hasFiles(url)
    let paths = hasFiles ? StoreSize.paths(at: url.path) : []
    try add(
      Entry(
        name: name, path: StoreURL.redacted(text), isStore: true, isWritten: isWritten,
        files: paths.map(FileLocation.init), remote: hasFiles ? [] : Self.remote(url)))
  }

  private static func remote(_ url: StoreURL) -> [String] {
    let options = ["service", "host", "hostaddr", "port", "dbname", "schema"].map { url.options[$0] }
    return [url.scheme == "postgresql" ? "postgres" : url.scheme, url.path] + options.map { $0 ?? "" }
  }

  /// Adds a file to read.
  ///
  /// - Throws: ``ToolFailure`` on a conflict.
  mutating func addInput(_ path: String, as name: String) throws {
    try add(Entry(name: name, path: path, isStore: false, isWritten: false, files: [FileLocation(path)]))
  }

  /// Adds a file to write or remove.
  ///
  /// - Throws: ``ToolFailure`` on a conflict, or if the file cannot be created or must not be replaced.
  mutating func addOutput(_ path: String, as name: String, replacesExisting: Bool = true) throws {
    let file = FileLocation(path)
    try add(Entry(name: name, path: path, isStore: false, isWritten: true, files: [file]))
    guard FileReplacement.canCreate(path) else {
      throw ToolFailure.usage("\(name): the folder of \(path) does not exist")
    }
    if !replacesExisting { try FileReplacement.requireAbsence(at: path) }
  }

  private mutating func add(_ entry: Entry) throws {
    for other in entries where entry.isWritten || other.isWritten {
      try Self.checkConflict(entry, other)
    }
    entries.append(entry)
  }

  private static func checkConflict(_ entry: Entry, _ other: Entry) throws {
    if entry.isStore, other.isStore {
      guard overlap(entry, other) || (!entry.remote.isEmpty && entry.remote == other.remote) else {
        return
      }
      throw ToolFailure.usage("\(other.name) and \(entry.name) are the same store, \(entry.path)")
    }
    // If both are written, the file would destroy the store.
    let isFirst = entry.isWritten && !(entry.isStore && other.isWritten)
    let (written, kept) = isFirst ? (entry, other) : (other, entry)
    guard !overlap(written, kept) else {
      throw ToolFailure.usage("\(written.name) \(written.path) would overwrite \(kept.name)")
    }
    guard !written.isStore, kept.isStore, let file = written.files.first, let store = kept.files.first,
      file.isWithin(store)
    else { return }
    throw ToolFailure.usage("\(written.name) \(written.path) lies within \(kept.name)")
  }

  private static func overlap(_ entry: Entry, _ other: Entry) -> Bool {
    entry.files.contains { file in
      !file.isSpecial && other.files.contains { file.isSame(as: $0) }
    }
  }
}

/// The location of a path with symbolic links resolved, whether or not a file exists.
struct FileLocation {
  /// The absolute path without symbolic links.
  let path: String
  /// Whether the path is neither a file nor a folder, for example a pipe or `/dev/null`: writing destroys nothing, and
  /// it cannot be replaced.
  let isSpecial: Bool
  /// The device and inode; nil if the file does not exist.
  private let identity: [UInt64]?

  init(_ path: String) {
    self.path = Self.resolved(path, links: 0)
    var status = stat()
    guard stat(self.path, &status) == 0 else {
      (isSpecial, identity) = (false, nil)
      return
    }
    isSpecial = ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    identity = [UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino)]
  }

  func isSame(as other: FileLocation) -> Bool {
    path == other.path || (identity != nil && identity == other.identity)
  }

  func isWithin(_ folder: FileLocation) -> Bool { path.hasPrefix(folder.path + "/") }

  private static func resolved(_ path: String, links: Int) -> String {
    if let real = realpath(path, nil) {
      defer { free(real) }
      return String(cString: real)
    }
    let url = URL(fileURLWithPath: path).standardizedFileURL
    let folder = url.deletingLastPathComponent().path
    guard folder != url.path else { return path }
    // A link's target may be created later.
    if links < 32, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path) {
      return resolved(target.hasPrefix("/") ? target : folder + "/" + target, links: links + 1)
    }
    let above = resolved(folder, links: links)
    return (above == "/" ? "" : above) + "/" + url.lastPathComponent
  }
}
