import Foundation
public import PersistenceDriver
import PersistenceDriverSupport
import Synchronization

/// A context that keeps a whole store in one file, for small stores that people copy, mail and restore.
///
/// The content is a value in memory, and a snapshot is a copy of it. A transaction changes a copy; the commit writes
/// that copy to a new file, which replaces the old one. A commit therefore takes time in proportion to the whole store.
/// Several processes may open one store: a lock serializes writers, and readers compare the file's header.
public final class OneFileContext: StorageContext, StateReader {
  /// The file's path.
  public let location: String

  /// The capabilities of the context.
  public let capabilities: Capabilities

  /// The monitor that logs for the context.
  public let monitor: ContextMonitor

  /// Whether the store is known to be complete.
  public var isKnownComplete: Bool { monitor.isKnownComplete }

  private let configuration: OneFileConfiguration
  private let file: StoreFile
  private let gate = WriterGate()
  /// The content of the file when the context last read it; nil once the context is closed.
  private let known: Mutex<Version?>

  private struct Version {
    var header: StoreHeader
    var state: StoreState
  }

  /// Opens the store in a file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - configuration: The settings.
  ///   - monitoring: What the context monitors, and where it reports.
  /// - Throws: ``PersistenceDriver/PersistenceError`` if the store is missing and must not be created, if the file is
  ///   damaged or not a store, and if the system reports an error.
  public init(
    path: String, configuration: OneFileConfiguration = OneFileConfiguration(),
    monitoring: Monitoring = Monitoring()
  ) throws {
    // Resolve links once, because a rename would replace the link and not its target.
    location = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    self.configuration = configuration
    file = StoreFile(path: location)
    monitor = ContextMonitor(monitoring, location: location)
    capabilities = Capabilities(
      isDurable: true, isMultiProcess: true, hasFiles: true, isReadOnly: configuration.isReadOnly,
      evaluatesPredicates: false, hasSecondaryIndexes: false, dropsModels: true, detectsDamage: true,
      writesInParallel: false, replays: false)
    if try !file.exists() { try Self.create(file, configuration) }
    let (header, state) = try file.read()
    known = Mutex(Version(header: header, state: state))
    monitor.opened("one file, \(header.length) bytes")
  }

  private static func create(_ file: StoreFile, _ configuration: OneFileConfiguration) throws {
    guard configuration.creates, !configuration.isReadOnly else {
      throw PersistenceError(
        .missingStore, "there is no store at the path, and the configuration creates none; check the path",
        location: file.path)
    }
    let timeout = configuration.busyTimeout
    try file.withLock(until: .now + timeout, timeout: timeout) {
      // Another process may have created it in the meantime.
      guard try !file.exists() else { return }
      _ = try file.replace(with: try StoreCoding.encode(StoreState(), commit: 0).bytes)
    }
  }

  /// Returns the newest committed state: the cached one, unless the file has another header.
  private func current() throws -> Version {
    guard let version = known.withLock({ $0 }) else { throw PersistenceError.closed("the store") }
    guard try file.header() != version.header else { return version }
    let (header, state) = try file.read()
    return try publish(Version(header: header, state: state))
  }

  private func publish(_ version: Version) throws -> Version {
    try known.withLock { known in
      guard known != nil else { throw PersistenceError.closed("the store") }
      known = version
      return version
    }
  }

  func state() throws -> StoreState { try current().state }

  /// Takes a snapshot of the newest state, which costs nothing.
  public func snapshot() throws -> any StorageSnapshot {
    OneFileSnapshot(try state(), location: location)
  }

  /// Runs a closure on a copy of the newest state, and replaces the file if the closure returns.
  public func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    guard !capabilities.isReadOnly else { throw PersistenceError.readOnly(location) }
    let timeout = configuration.busyTimeout
    let deadline = ContinuousClock.now + timeout
    // The gate comes first: it admits threads in order, and rejects a thread that would wait for itself.
    try gate.withEntry(timeout: timeout, location: location) {
      _ = try current()
      try file.withLock(until: deadline, timeout: timeout) {
        let base = try current()
        let transaction = OneFileTransaction(base.state, location: location)
        defer { transaction.end() }
        try body(transaction)
        if transaction.isChanged { try commit(transaction.copy, after: base.header) }
      }
    }
    monitor.reportLongHeldResults()
  }

  private func commit(_ state: StoreState, after base: StoreHeader) throws {
    guard known.withLock({ $0 != nil }) else { throw PersistenceError.closed("the store") }
    let (header, bytes) = try StoreCoding.encode(state, commit: base.commit + 1)
    if try file.replace(with: bytes) {
      monitor.recovered("removed the uncommitted draft of a killed process")
    }
    // If another thread closed the context in the meantime, the transaction is committed all the same.
    known.withLock { known in if known != nil { known = Version(header: header, state: state) } }
  }

  /// Closes the store; open results keep their copies of the state.
  public func close() throws { known.withLock { $0 = nil } }
}
