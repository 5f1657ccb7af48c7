import PersistenceDriver

/// The paths that a command reads and writes: prevents an output from overwriting an input or another output.
///
/// A command adds all paths before it opens any of them.
struct PathConflicts {
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
  mutating func addOutput(_ path: String, as name: String, replacesExisting: Bool) throws {
    try addOutput(path, as: name)
    if !replacesExisting { try FileReplacement.requireAbsence(at: path) }
  }

  /// Adds a file that replaces one of an earlier run.
  ///
  /// - Throws: ``ToolFailure`` on a conflict, or if the file cannot be created or holds something else.
  mutating func addOutput(_ path: String, as name: String, replacing kind: RewrittenFile) throws {
    try addOutput(path, as: name)
    try kind.requireReplaceable(path, as: name)
  }

  private mutating func addOutput(_ path: String, as name: String) throws {
    let file = FileLocation(path)
    try add(Entry(name: name, path: path, isStore: false, isWritten: true, files: [file]))
    guard FileReplacement.canCreate(path) else {
      throw ToolFailure.usage("\(name): the folder of \(path) does not exist")
    }
  }

  private mutating func add(_ entry: Entry) throws {
    for other in entries where entry.isWritten || other.isWritten {
      try Self.checkConflict(entry, other)
    }
    entries.append(entry)
  }
}
