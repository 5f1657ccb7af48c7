import Foundation
public import PersistenceDriver
public import PersistenceDriverSupport
import Synchronization

/// A directory of JSON files as a context: one folder per model, one file per record, for people to read,
/// compare and edit.
///
/// A journal makes transactions atomic, even if the process is killed. Snapshots stay consistent while files
/// are replaced, also by other processes. The next fetch sees an edit by hand, in any spelling that the
/// lenient profile of `ValueReader` accepts. An error about a damaged file names the file, the line and the
/// column; the engine never changes such a file. A file of a store has at most 1 GiB.
public final class JSONDirectoryContext: ObservableContext, JSONDirectoryReader {
  /// The folder's path, as given.
  public let location: String

  /// The monitor of the context.
  public let monitor: ContextMonitor

  /// The monitor's statistics.
  public var isKnownComplete: Bool { monitor.isKnownComplete }

  /// Durable, shared between processes; a query on indexed fields reads only matching files.
  public let capabilities: Capabilities

  private let configuration: JSONDirectoryConfiguration
  private let gate = WriterGate()
  private let commits: JSONDirectoryCommits

  /// The observers of the directory's commits.
  public var observers: CommitObservers { commits.observers }
  private let state: Mutex<StoreFolder?>
  private let unique = Mutex(UniqueBox())

  private struct UniqueBox: @unchecked Sendable {  // used by the one writer inside the gate
    let cache = UniqueCache()
  }

  /// Opens a JSON directory, and recovers from a killed writer.
  ///
  /// - Parameters:
  ///   - path: The store's folder; its parent must exist.
  ///   - configuration: The options.
  /// - Throws: ``PersistenceError`` with code `missingStore` if there is no store and the options do not
  ///   create one, `notAStore` if the folder contains something else, `unsupported` if a copy of the folder shares
  ///   files with it by hard links while a context of either is open, and `accessDenied`, `readOnly`, `storeFull` or
  ///   `inputOutput` for system errors.
  public init(path: String, configuration: JSONDirectoryConfiguration = JSONDirectoryConfiguration()) throws {
    location = path
    self.configuration = configuration
    capabilities = Self.capabilities(configuration)
    let store = try mappingErrors(location: path) {
      try StoreFolder(
        path: path, mayCreate: configuration.createsStore, isReadOnly: configuration.isReadOnly,
        busyTimeout: configuration.busyTimeout, step: configuration.step)
    }
    state = Mutex(store)
    commits = JSONDirectoryCommits.of(store)
    let monitor = ContextMonitor(
      configuration.monitoring, location: path, store: "json \(store.root.device) \(store.root.inode)")
    self.monitor = monitor
    try takingTurns(store) {
      try recoverAtOnce(store, isOpening: true)
      try requireFinished(store)
    }
    try mappingErrors(location: path) { try store.requireCatalog() }
    if let isWanted = configuration.checksums, !configuration.isReadOnly {
      let isKept = try mappingErrors(location: path) { try ChecksumLedger.isKept(in: CommittedFiles(store)) }
      if isKept != isWanted { try setChecksums(isWanted) }
    }
    let version = try mappingErrors(location: path) { try store.sequence.committed }
    monitor.opened("a JSON directory of version \(version)")
  }

  /// The number of record files opened through this context.
  package var openedFiles: Int {
    get throws { try openStore().openings.load(ordering: .relaxed) }
  }

  func reading() throws -> (source: any RecordSource, catalog: Catalog) {
    let store = try openStore()
    try recoverAtOnce(store)
    let view = try VersionView(store)
    return (view, try view.catalog())
  }

  /// Reads without a pinned version; if a commit has begun since the last look, it reads again, finally with a pinned one.
  ///
  /// Version numbers only grow: between two moments with the same settled version, no commit has begun, and no writer has
  /// changed a file.
  func readingOne<Result>(_ body: (any RecordSource, Catalog) throws -> Result) throws -> Result {
    let store = try openStore()
    for _ in 0..<2 {
      guard let version = try store.sequence.lastSettled else { break }
      let files = CommittedFiles(store)
      let result = Swift.Result { try body(files, files.catalog()) }
      if try store.sequence.settled == version { return try result.get() }
    }
    let (source, catalog) = try reading()
    return try body(source, catalog)
  }

  /// Pins the newest version.
  public func snapshot() throws -> any StorageSnapshot {
    try mappingErrors(location: location) {
      let store = try openStore()
      try recoverAtOnce(store)
      return try JSONDirectorySnapshot(store, location: location)
    }
  }

  /// Runs a closure as one transaction, and commits its files through the journal.
  public func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    try writing { try run($0, body) }
    monitor.reportLongHeldResults()
  }

  /// Commits the files that a closure makes of the committed ones, and removes folders that are empty then.
  func committing(
    leaving leftFolders: Set<String> = [], _ make: (CommittedFiles, Catalog) throws -> [Journal.Entry]
  ) throws {
    try writing { store in
      let journal = journal(store)
      try recover(journal)
      let files = CommittedFiles(store)
      let entries = try make(files, files.catalog())
      guard !entries.isEmpty else { return }
      try commits.counter.committing { try commit(entries, leaving: leftFolders, to: store, journal) }
    }
  }

  /// Runs a closure as the only writer of all processes.
  func writing(_ body: (StoreFolder) throws -> Void) throws {
    let store = try openStore()
    guard let lock = store.lock else { throw PersistenceError.readOnly(location) }
    let start = ContinuousClock.now
    try gate.withEntry(timeout: configuration.busyTimeout, location: location) {
      let rest = max(.zero, configuration.busyTimeout - (ContinuousClock.now - start))
      try mappingErrors(location: location) {
        try lock.withLock(timeout: rest, location: location) {
          try store.requireSharedFiles()
          try body(store)
        }
      }
    }
  }

  /// Closes the store; live results keep their resources.
  public func close() throws {
    state.withLock { $0 = nil }
    observers.end(of: self)
  }

  private func run(_ store: StoreFolder, _ body: (any StorageTransaction) throws -> Void) throws {
    let journal = journal(store)
    try recover(journal)
    let cache = unique.withLock { $0 }.cache
    let transaction = try JSONDirectoryTransaction(store, location: location, unique: cache)
    defer { transaction.end() }
    let observed = observers.begin(transaction)
    try body(observed.transaction)
    let entries = transaction.entries
    guard !entries.isEmpty else { return }
    try observers.commit(observed) {
      try commits.counter.committing {
        try commit(entries, leaving: transaction.leftFolders, to: store, journal)
      }
    }
  }

  private func commit(
    _ entries: [Journal.Entry], leaving leftFolders: Set<String>, to store: StoreFolder, _ journal: Journal
  ) throws {
    try store.requireInPlace()
    // A commit that failed for lack of space has left nothing.
    try store.makingRoom { try journal.commit(entries, leaving: leftFolders) }
    for folder in leftFolders { store.forget(folder) }
  }

  /// Runs the beginning of an opening while no other process is at it.
  ///
  /// After a loss of power, the version numbers and the history may be older than the files. Until the first opening has
  /// finished the interrupted commit, another one could not tell which of the files belong to it.
  private func takingTurns(_ store: StoreFolder, _ body: () throws -> Void) throws {
    let file = try mappingErrors(location: location) {
      try store.control.open(WriterLock.name, store.lock == nil ? O_RDONLY : O_RDWR)
    }
    guard let file else { return try body() }
    try mappingErrors(location: location) {
      try WriterLock(file).withOpening(
        mayRecover: store.lock != nil, timeout: configuration.busyTimeout, location: location, body)
    }
  }

  /// Recovers from a killed writer.
  ///
  /// If a live writer holds the lock, readers need not wait for it. If the system refuses to write, they need no recovery:
  /// the history shows the version before the commit, which was never acknowledged.
  private func recoverAtOnce(_ store: StoreFolder, isOpening: Bool = false) throws {
    guard store.lock != nil else { return }
    try mappingErrors(location: location) {
      let journal = journal(store)
      guard try isOpening || journal.mayNeedRecovery else { return }
      do {
        // A separate descriptor: the lock of the context's own writer would not exclude a reader on the same
        // one.
        guard let file = try store.control.open(WriterLock.name, O_RDWR) else { return }
        _ = try WriterLock(file).withLockAtOnce {
          try store.requireSharedFiles()
          try recover(journal)
          // The last reader may have gone after the last commit.
          if isOpening { try? journal.prune() }
        }
      } catch let failure as SystemFailure where !isOpening && failure.isRefusedWrite {
        // The next writer reports it.
      }
    }
  }

  /// Throws if a kill or a loss of power interrupted a commit, which this read-only context cannot finish.
  private func requireFinished(_ store: StoreFolder) throws {
    guard store.lock == nil else { return }
    try mappingErrors(location: location) {
      let journal = journal(store)
      // A writer that holds the lock is just moving the files, and has recorded it.
      guard try journal.needsWriter, let file = try store.control.open(WriterLock.name, O_RDONLY),
        try file.lock(.shared, byte: 0)
      else { return }
      defer { _ = try? file.lock(.none, byte: 0) }
      guard try journal.needsWriter else { return }
      throw PersistenceError(
        .readOnly,
        "a kill or a loss of power interrupted a commit, which only a writer can finish; open the store once for writing",
        location: location)
    }
  }

  private func recover(_ journal: Journal) throws {
    if try journal.recover() { monitor.recovered("finished or rolled back a transaction of a killed writer") }
  }

  private func journal(_ store: StoreFolder) -> Journal {
    Journal(store: store, isSynchronized: configuration.synchronization == .full, step: configuration.step)
  }

  private func openStore() throws -> StoreFolder {
    guard let store = state.withLock({ $0 }) else {
      throw PersistenceError.closed("the JSON directory \(location)")
    }
    return store
  }
}
