/// A context that keeps rows: the contract that every engine of this package, and of other authors, fulfils.
///
/// A context reads (each call sees the newest committed state), hands out snapshots and runs transactions. It
/// knows requests and rows, never models. There are no default implementations: what an engine cannot do it
/// refuses with ``PersistenceError/Code/unsupported``, and says in its ``capabilities``.
public protocol StorageContext: PersistentContext, StorageReader {
  /// Where the store is, without secrets: for messages and logs.
  var location: String { get }

  /// What the engine can do.
  var capabilities: Capabilities { get }

  /// What watches over the context: logging, long-held results, failures met while iterating.
  var monitor: ContextMonitor { get }

  /// Whether the store has been found to hold everything that it should, as ``monitor`` knows.
  ///
  /// Every call asks, and a driver returns ``ContextMonitor/isKnownComplete``. As a requirement of the context, it
  /// avoids contended reference counts of the monitor.
  var isKnownComplete: Bool { get }

  /// Pins the store's newest committed state, at once.
  ///
  /// - Throws: ``PersistenceError``.
  func snapshot() throws -> any StorageSnapshot

  /// Runs a closure as one transaction: committed when it returns, undone when it throws.
  ///
  /// When the call returns, the transaction survives the kill of the process and, at the default durability, the
  /// loss of power (contract W5).
  ///
  /// - Throws: What the closure throws; ``PersistenceError`` with code ``PersistenceError/Code/busy`` where
  ///   another writer did not finish within the stated time, and ``PersistenceError/Code/insideTransaction``
  ///   where this thread is already in a transaction of this context.
  func transaction(_ body: (any StorageTransaction) throws -> Void) throws

  /// Closes the store, once the results that are alive have been released; further calls throw
  /// ``PersistenceError/Code/closed``. Closing twice does nothing.
  ///
  /// - Throws: ``PersistenceError`` where the store could not be brought to rest.
  func close() throws
}
