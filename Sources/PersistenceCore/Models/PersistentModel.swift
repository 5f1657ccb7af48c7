public import PersistenceDriver

/// A type whose values can be kept in a context: the point at which a call finds the code for its context.
///
/// Most models are structs made persistent by `@Persistent`, which conforms them to ``PersistentRecord`` and so
/// to this protocol. A model of another framework (an object graph, Core Data, Realm) implements the static
/// members itself: it casts the context to its framework's own, and throws
/// ``PersistenceError/incompatibleContext(_:context:accepted:)`` where that fails. Such a model, if it is a
/// class, is `final`.
public protocol PersistentModel {
  /// The models in a context, lazily.
  ///
  /// - Parameters:
  ///   - context: Where the models are kept.
  ///   - options: Which of them, in what order; nil for all, in the order of their primary keys.
  /// - Returns: A collection that reads the context as it is walked.
  /// - Throws: ``PersistenceError``; its code is ``PersistenceError/Code/incompatibleContext`` where the context
  ///   does not hold such models.
  static func fetch(in context: any PersistentContext, options: FetchOptions<Self>?) throws
    -> AnyCollection<Self>

  /// How many models a context holds, without decoding them.
  ///
  /// - Parameters:
  ///   - context: Where the models are kept.
  ///   - options: Which of them; nil for all.
  /// - Returns: Their number.
  /// - Throws: ``PersistenceError``.
  static func count(in context: any PersistentContext, options: FetchOptions<Self>?) throws -> Int

  /// Adds models, or replaces those of the same identity, all or none of them.
  ///
  /// - Parameters:
  ///   - models: What is saved.
  ///   - context: Where they are kept.
  /// - Throws: ``PersistenceError``.
  static func save(_ models: [Self], in context: any PersistentContext) throws

  /// Reads the stored model, changes it and saves it, in one transaction.
  ///
  /// - Parameters:
  ///   - model: A model whose identity says which one is meant.
  ///   - context: Where it is kept.
  ///   - change: Changes the stored model; where it throws, nothing is changed.
  /// - Returns: The model as it is stored afterwards.
  /// - Throws: ``PersistenceError``, and what the closure throws.
  static func write(_ model: Self, in context: any PersistentContext, _ change: (inout Self) throws -> Void)
    throws -> Self

  /// Deletes a model.
  ///
  /// - Parameters:
  ///   - model: A model whose identity says which one is meant.
  ///   - context: Where it is kept.
  /// - Returns: Whether there was anything to delete.
  /// - Throws: ``PersistenceError``.
  static func delete(_ model: Self, in context: any PersistentContext) throws -> Bool

  /// Deletes all models of this type, and of no other.
  ///
  /// - Parameter context: Where they are kept.
  /// - Throws: ``PersistenceError``.
  static func deleteAll(in context: any PersistentContext) throws
}
