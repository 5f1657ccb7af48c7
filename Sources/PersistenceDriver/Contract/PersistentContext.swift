/// A place where models are kept: a database, a directory, memory, or another framework's object graph.
///
/// The protocol asks for nothing. A model's static members look at the context that they are given and cast it
/// to what they know; a context that does not hold the model is an error of code
/// ``PersistenceError/Code/incompatibleContext`` (contract E1). Contexts that keep rows conform to
/// ``StorageContext``.
public protocol PersistentContext: AnyObject, Sendable {}
