import Synchronization

public import PersistenceDriver
public import PersistenceDriverSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A directory of JSON files as a context: one folder a model, one file a record, made for people to read, compare
/// and edit.
///
/// Transactions are journalled and survive a kill at any moment; snapshots hold while files are replaced, also by
/// other processes. What a person edits is seen by the next fetch; a file that is damaged by hand is named, with
/// line and column, when it is met, and is left as it is.
public final class JSONDirectoryContext: ObservableContext, JSONDirectoryReader {
  /// The folder, as it was given.
  public let location: String

  /// What watches over the context.
  public let monitor: ContextMonitor

  /// What the monitor knows.
  public var isKnownComplete: Bool { monitor.isKnownComplete }

  /// Durable, for several processes; of a query on indexed fields, only the files that fit are read.
  public let capabilities: Capabilities

  private let configuration: JSONDirectoryConfiguration
  private let gate = WriterGate()
  private let lock: WriterLock?
  private let commits: JSONDirectoryCommits

  /// The observers of the directory's commits.
  public var observers: CommitObservers { commits.observers }
  private let state: Mutex<StoreFolder?>
  private let unique = Mutex(UniqueBox())

  private struct UniqueBox: @unchecked Sendable {  // used by the one writer inside the gate
    let cache = UniqueCache()
  }

  /// Opens a JSON directory, and finishes what a killed writer left.
  ///
  /// - Parameters:
  ///   - path: The store's folder; its parent must exist.
  ///   - configuration: How it is opened.
  /// - Throws: ``PersistenceError`` with code `missingStore` where there is none and none was to be made,
  ///   `notAStore` where the folder holds something else, `accessDenied`, `readOnly`, `storeFull` or
  ///   `inputOutput` as the system answers.
  public init(path: String, configuration: JSONDirectoryConfiguration = JSONDirectoryConfiguration()) throws {
    location = path
    self.configuration = configuration
    capabilities = Self.capabilities(configuration)
    let (store, lock) = try mappingErrors(location: path) {
      let store = try StoreFolder(
        path: path, mayCreate: configuration.createsStore, isReadOnly: configuration.isReadOnly,
        step: configuration.step)
      let file = configuration.isReadOnly ? nil : try store.control.open(WriterLock.name, O_RDWR | O_CREAT)
      return (store, file.map(WriterLock.init))
    }
    self.lock = lock
    state = Mutex(store)
    commits = JSONDirectoryCommits.of(store)
    let monitor = ContextMonitor(configuration.monitoring, location: path)
    self.monitor = monitor
    try recoverAtOnce(store, isOpening: true)
    let version = try mappingErrors(location: path) { try store.sequence.committed }
    monitor.opened("a JSON directory of version \(version)")
  }

  /// How many files of records were opened, by everybody who reads the store through this context.
  package var openedFiles: Int {
    get throws { try openStore().openings.load(ordering: .relaxed) }
  }

  func reading() throws -> (source: any RecordSource, catalog: Catalog) {
    let store = try openStore()
    try recoverAtOnce(store)
    let view = try VersionView(store)
    return (view, try view.catalog())
  }

  /// Reads without pinning a version, and again with a pin where one began to show meanwhile.
  func readingOne<Result>(_ body: (any RecordSource, Catalog) throws -> Result) throws -> Result {
    let store = try openStore()
    let numbers = try store.sequence.read()
    if numbers.applying == numbers.committed {
      let files = CommittedFiles(store)
      let result = Swift.Result { try body(files, files.catalog()) }
      if try store.sequence.applying == numbers.applying { return try result.get() }
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
  public func transaction(_ body: (any StorageTransaction) throws -> Void) throws {
    let store = try openStore()
    guard let lock else { throw PersistenceError.readOnly(location) }
    let start = ContinuousClock.now
    try gate.withEntry(timeout: configuration.busyTimeout, location: location) {
      let rest = max(.zero, configuration.busyTimeout - (ContinuousClock.now - start))
      try mappingErrors(location: location) {
        try lock.withLock(timeout: rest, location: location) {
          try run(store, body)
        }
      }
    }
    monitor.reportLongHeldResults()
  }

  /// Closes the store; results that are alive keep what they need.
  public func close() throws {
    state.withLock { $0 = nil }
    observers.end(of: self)
  }

  private func run(_ store: StoreFolder, _ body: (any StorageTransaction) throws -> Void) throws {
    let journal = journal(store)
    if try journal.recover() { monitor.recovered("finished or undid a transaction of a killed writer") }
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
    do {
      try journal.commit(entries)
      for folder in leftFolders { store.forget(folder) }
    } catch let failure as SystemFailure where failure.number == ENOSPC || failure.number == EDQUOT {
      // Nothing is committed yet: what is only a cache makes room for what is not.
      guard try store.removeIndexes() else { throw failure }
      try journal.commit(entries)
      for folder in leftFolders { store.forget(folder) }
    }
  }

  /// Finishes what a killed writer left, unless a living one is at work, whose version readers need not wait for.
  private func recoverAtOnce(_ store: StoreFolder, isOpening: Bool = false) throws {
    guard lock != nil else { return }
    try mappingErrors(location: location) {
      let journal = journal(store)
      // An opening of its own: through the context's, a reader would get in beside the context's own writer.
      guard try isOpening || journal.mayNeedRecovery,
        let file = try store.control.open(WriterLock.name, O_RDWR)
      else { return }
      _ = try WriterLock(file).withLockAtOnce {
        if try journal.recover() { monitor.recovered("finished or undid a transaction of a killed writer") }
      }
    }
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
