import PersistenceDriver

/// Any context, to be read only: a store that one part of a program hands to another without the right to change it.
///
/// ```swift
/// let archive = Repository(ReadOnlyContext(context))
/// ```
///
/// Every transaction throws ``PersistenceError/Code/readOnly`` before it begins, and ``capabilities`` say so; reading
/// is the wrapped context's own. Who holds the wrapped context can still write, and what is written is seen here.
public final class ReadOnlyContext: StorageContextWrapper {
  /// The context that is read.
  public let wrapped: any StorageContext

  /// Wraps a context.
  ///
  /// - Parameter wrapped: The context that is read.
  public init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  /// What the wrapped context can do, but for writing.
  public var capabilities: Capabilities {
    var capabilities = wrapped.capabilities
    capabilities.isReadOnly = true
    return capabilities
  }

  /// Throws ``PersistenceError/Code/readOnly``, without calling the closure.
  public func transaction(_ body: (any StorageTransaction) throws -> Void) throws {
    throw PersistenceError(
      .readOnly, "the store was handed on to be read only; write through the context that was wrapped",
      location: location)
  }
}
