import Foundation
public import PersistenceDriver
import Synchronization
import PersistenceDriverSupport

/// A context that keeps a whole store in one file, which every commit replaces: for small stores that are copied,
/// mailed and restored as a file.
///
/// The content is held in memory, as a value; a snapshot is a copy of it. A transaction changes a copy, which is
/// written to a file of its own and takes the old one's place. So a commit costs as much as the store is large.
/// Several processes may open one store: writers take turns by a lock, readers look at the file's header.
public final class OneFileContext: StorageContext, StateReader {
  /// The file's path.
  public let location: String

  /// What the context can do.
  public let capabilities: Capabilities

  /// What watches over the context.
  public let monitor: ContextMonitor

  private let configuration: OneFileConfiguration
  private let file: StoreFile
  private let gate = WriterGate()
  /// What the file held when it was last looked at; nil once the context is closed.
  private let known: Mutex<Version?>

  private struct Version {
    var header: StoreHeader
    var state: StoreState
  }

  /// Opens the store in a file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - configuration: How it is opened.
  ///   - monitoring: What is watched, and where it is reported.
  /// - Throws: ``PersistenceDriver/PersistenceError`` where there is no store and none is to be made, where the file is
  ///   none or damaged, and where the system refuses.
  public init(
    path: String, configuration: OneFileConfiguration = OneFileConfiguration(),
    monitoring: Monitoring = Monitoring()
  ) throws {
    // A link is followed once: renaming would replace the link, not what it names.
    location = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    self.configuration = configuration
    file = StoreFile(path: location)
    monitor = ContextMonitor(monitoring, location: location)
    capabilities = Capabilities(
      isDurable: true, isMultiProcess: true, hasFiles: true, isReadOnly: configuration.isReadOnly,
      evaluatesPredicates: false, hasSecondaryIndexes: false)
    if try !file.exists() { try Self.make(file, configuration) }
    let (header, state) = try file.read()
    known = Mutex(Version(header: header, state: state))
    monitor.opened("one file, \(header.length) bytes")
  }

  private static func make(_ file: StoreFile, _ configuration: OneFileConfiguration) throws {
    guard configuration.creates, !configuration.isReadOnly else {
      throw PersistenceError(
        .missingStore, "there is no store, and none was to be made; check the path", location: file.path)
    }
    let timeout = configuration.busyTimeout
    try file.withLock(until: .now + timeout, timeout: timeout) {
      // Another process may have made it meanwhile.
      guard try !file.exists() else { return }
      _ = try file.replace(with: try StoreCoding.encode(StoreState(), commit: 0).bytes)
    }
  }

  /// The newest committed state: what is known, unless the file has another header.
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

  /// Pins the newest state, which costs nothing.
  public func snapshot() throws -> any StorageSnapshot {
    OneFileSnapshot(try state(), location: location)
  }

  /// Runs a closure on a copy of the newest state, and replaces the file when it returns.
  public func transaction(_ body: (any StorageTransaction) throws -> Void) throws {
    guard !capabilities.isReadOnly else { throw PersistenceError.readOnly(location) }
    let timeout = configuration.busyTimeout
    let deadline = ContinuousClock.now + timeout
    // The gate first: it knows the order of arrival, and a thread that would wait for itself.
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
      monitor.recovered("removed what a killed process had not yet committed")
    }
    // Whoever closed the context in this moment was too late: the transaction is committed.
    known.withLock { known in if known != nil { known = Version(header: header, state: state) } }
  }

  /// Closes the store; results that are alive keep their copies.
  public func close() throws { known.withLock { $0 = nil } }
}
