/// A place where models are kept: a database, a directory, memory, or another framework's object graph.
///
/// The protocol asks for nothing that is not given. A model's static members look at the context that they are given and cast it
/// to what they know; a context that does not hold the model is an error of code
/// ``PersistenceError/Code/incompatibleContext`` (contract E1). Contexts that keep rows conform to
/// ``StorageContext``.
public protocol PersistentContext: AnyObject, Sendable {
  /// The context as one that keeps rows; nil where it is of another kind.
  ///
  /// Every call asks, and a cast to a protocol would be a large part of a point read.
  var asStorageContext: (any StorageContext)? { get }
}

extension PersistentContext {
  /// Nothing: the context is of another kind.
  public var asStorageContext: (any StorageContext)? { nil }
}

extension StorageContext {
  /// The context itself.
  public var asStorageContext: (any StorageContext)? { self }
}
