import PersistenceDriver

/// A context that wraps another one: it changes some calls and forwards the others.
///
/// A wrapper follows the whole contract. It overrides the calls it changes; the defaults forward to ``wrapped``. A
/// wrapper that changes reads or writes also wraps the returned objects: results with
/// ``StorageReaderWrapper/wrap(_:of:)``, snapshots and transactions with the two methods here.
///
/// ```swift
/// final class CountingContext: StorageContextWrapper {
///   let wrapped: any StorageContext
///   let lookups = Atomic(0)
///   init(_ wrapped: any StorageContext) { self.wrapped = wrapped }
///
///   func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool {
///     lookups.add(1, ordering: .relaxed)
///     return try wrapped.find(key, in: schema, body)
///   }
/// }
/// ```
///
/// A wrapper and its wrapped context are one store. A model that is restricted to some contexts accepts their wrappers,
/// and inside a transaction of either, both are the outer context (contract R1a).
public protocol StorageContextWrapper: StorageContext, StorageReaderWrapper {
  /// The wrapped context; it never changes.
  var wrapped: any StorageContext { get }

  /// Wraps a snapshot; returns it unchanged by default.
  ///
  /// - Parameter snapshot: The snapshot of the wrapped context.
  /// - Returns: The snapshot for the caller.
  func wrap(_ snapshot: any StorageSnapshot) -> any StorageSnapshot

  /// Wraps a transaction; returns it unchanged by default.
  ///
  /// - Parameter transaction: The transaction of the wrapped context.
  /// - Returns: The transaction for the closure.
  func wrap(_ transaction: any StorageTransaction) -> any StorageTransaction
}

extension StorageContextWrapper {
  /// The wrapped context.
  public var wrappedReader: any StorageReader { wrapped }

  /// Returns the snapshot unchanged.
  public func wrap(_ snapshot: any StorageSnapshot) -> any StorageSnapshot { snapshot }

  /// Returns the transaction unchanged.
  public func wrap(_ transaction: any StorageTransaction) -> any StorageTransaction { transaction }

  /// The location of the wrapped context.
  public var location: String { wrapped.location }

  /// The capabilities of the wrapped context.
  public var capabilities: Capabilities { wrapped.capabilities }

  /// The monitor of the wrapped context.
  public var monitor: ContextMonitor { wrapped.monitor }

  /// Whether the wrapped context is known to be complete.
  public var isKnownComplete: Bool { wrapped.isKnownComplete }

  /// Wraps a snapshot of the wrapped context.
  public func snapshot() throws -> any StorageSnapshot { wrap(try wrapped.snapshot()) }

  /// Runs a transaction of the wrapped context, and passes it wrapped to the closure.
  public func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    try wrapped.transaction(mode) { try body(wrap($0)) }
  }

  /// Closes the wrapped context.
  public func close() throws { try wrapped.close() }
}

extension StorageContext {
  /// The context and, if it is a wrapper, all contexts within it, outermost first.
  public var layers: [any StorageContext] {
    var layers: [any StorageContext] = [self]
    var layer: any StorageContext = self
    while let wrapper = layer as? any StorageContextWrapper {
      layer = wrapper.wrapped
      layers.append(layer)
    }
    return layers
  }

  /// The innermost of ``layers``, which stores the records.
  ///
  /// Cast it to use features of one engine: `context.innermost as? MemoryContext`.
  public var innermost: any StorageContext {
    var layer: any StorageContext = self
    while let wrapper = layer as? any StorageContextWrapper { layer = wrapper.wrapped }
    return layer
  }
}
