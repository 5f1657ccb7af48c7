import PersistenceDriver

/// A context around another one, which changes some of what it does and hands everything else on.
///
/// A wrapper is a context like any other and keeps the whole contract. It overrides what it changes; the defaults
/// call ``wrapped``. What changes reading or writing has to do so everywhere, so it also wraps what the context hands
/// out: results by ``StorageReaderWrapper/wrap(_:of:)``, snapshots and transactions by the two methods here.
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
/// A wrapper and what it wraps are one store: a model that is restricted to some contexts accepts wrappers of them,
/// and inside a transaction of either both count as the outer context (contract R1a).
public protocol StorageContextWrapper: StorageContext, StorageReaderWrapper {
  /// The context that calls are handed on to; always the same one.
  var wrapped: any StorageContext { get }

  /// Puts a wrapper around a snapshot; as it is, by default.
  ///
  /// - Parameter snapshot: What the wrapped context yields.
  /// - Returns: What the caller is given.
  func wrap(_ snapshot: any StorageSnapshot) -> any StorageSnapshot

  /// Puts a wrapper around a transaction; as it is, by default.
  ///
  /// - Parameter transaction: What the wrapped context began.
  /// - Returns: What the closure is given.
  func wrap(_ transaction: any StorageTransaction) -> any StorageTransaction
}

extension StorageContextWrapper {
  /// The wrapped context.
  public var wrappedReader: any StorageReader { wrapped }

  /// Gives the snapshot as it is.
  public func wrap(_ snapshot: any StorageSnapshot) -> any StorageSnapshot { snapshot }

  /// Gives the transaction as it is.
  public func wrap(_ transaction: any StorageTransaction) -> any StorageTransaction { transaction }

  /// Where the wrapped context's store is.
  public var location: String { wrapped.location }

  /// What the wrapped context can do.
  public var capabilities: Capabilities { wrapped.capabilities }

  /// What watches over the wrapped context.
  public var monitor: ContextMonitor { wrapped.monitor }

  /// Whether the wrapped context is known to be complete.
  public var isKnownComplete: Bool { wrapped.isKnownComplete }

  /// Asks the wrapped context, and wraps what it yields.
  public func snapshot() throws -> any StorageSnapshot { wrap(try wrapped.snapshot()) }

  /// Runs a transaction of the wrapped context, whose closure is given it wrapped.
  public func transaction(_ body: (any StorageTransaction) throws -> Void) throws {
    try wrapped.transaction { try body(wrap($0)) }
  }

  /// Closes the wrapped context.
  public func close() throws { try wrapped.close() }
}

extension StorageContext {
  /// The context itself and, where it is a wrapper, every context within it, outermost first.
  public var layers: [any StorageContext] {
    var layers: [any StorageContext] = [self]
    var layer: any StorageContext = self
    while let wrapper = layer as? any StorageContextWrapper {
      layer = wrapper.wrapped
      layers.append(layer)
    }
    return layers
  }

  /// The context that does the work: the innermost of ``layers``.
  ///
  /// It gives access to what only that context can do, as in `context.innermost as? MemoryContext`.
  public var innermost: any StorageContext {
    var layer: any StorageContext = self
    while let wrapper = layer as? any StorageContextWrapper { layer = wrapper.wrapped }
    return layer
  }
}
