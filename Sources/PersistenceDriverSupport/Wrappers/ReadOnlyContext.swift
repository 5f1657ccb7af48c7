import PersistenceDriver

/// A read-only wrapper of any context: it shares a store without write access.
///
/// ```swift
/// let archive = Repository(ReadOnlyContext(context))
/// ```
///
/// Every transaction throws ``PersistenceError/Code/readOnly`` before it begins, and ``capabilities`` declare that. Reads
/// go to the wrapped context. Code with the wrapped context can still write, and its commits are visible here.
public final class ReadOnlyContext: StorageContextWrapper {
  /// The wrapped context.
  public let wrapped: any StorageContext

  /// Wraps a context.
  ///
  /// - Parameter wrapped: The context to read.
  public init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  /// The capabilities of the wrapped context, as read-only.
  public var capabilities: Capabilities {
    var capabilities = wrapped.capabilities
    capabilities.isReadOnly = true
    return capabilities
  }

  /// Throws ``PersistenceError/Code/readOnly``, without calling the closure.
  public func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    throw PersistenceError(
      .readOnly, "the context is a read-only wrapper; write through the wrapped context",
      location: location)
  }
}
