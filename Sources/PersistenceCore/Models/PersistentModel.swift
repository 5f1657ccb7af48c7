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
  ///   - context: The context of the models.
  ///   - options: The options; nil for all models, ordered by primary key.
  /// - Returns: A lazy collection.
  /// - Throws: ``PersistenceError``; its code is ``PersistenceError/Code/incompatibleContext`` if the context
  ///   does not hold such models.
  static func fetch(in context: any PersistentContext, options: FetchOptions<Self>?) throws
    -> AnyCollection<Self>

  /// Counts the models of a context without decoding them.
  ///
  /// - Parameters:
  ///   - context: The context of the models.
  ///   - options: The options; nil for all models.
  /// - Returns: The number of models.
  /// - Throws: ``PersistenceError``.
  static func count(in context: any PersistentContext, options: FetchOptions<Self>?) throws -> Int

  /// Adds models, or replaces those of the same identity, all or none of them.
  ///
  /// - Parameters:
  ///   - models: The models to save.
  ///   - context: The context.
  /// - Throws: ``PersistenceError``.
  static func save(_ models: [Self], in context: any PersistentContext) throws

  /// Reads the stored model, changes it and saves it, in one transaction.
  ///
  /// - Parameters:
  ///   - model: A model with the identity to look up.
  ///   - context: The context.
  ///   - change: Changes the stored model; if it throws, nothing is changed.
  /// - Returns: The stored model after the change.
  /// - Throws: ``PersistenceError``, and the closure's error.
  static func write(_ model: Self, in context: any PersistentContext, _ change: (inout Self) throws -> Void)
    throws -> Self

  /// Deletes a model.
  ///
  /// - Parameters:
  ///   - model: A model with the identity to look up.
  ///   - context: The context.
  /// - Returns: Whether the model existed.
  /// - Throws: ``PersistenceError``.
  static func delete(_ model: Self, in context: any PersistentContext) throws -> Bool

  /// Deletes all models of this type, and of no other.
  ///
  /// - Parameter context: The context.
  /// - Throws: ``PersistenceError``.
  static func deleteAll(in context: any PersistentContext) throws
}

/// A model whose stored properties have names, so that predicates and sort criteria over key paths can be made.
public protocol PersistentFields: PersistentModel {
  /// The stored name of a property.
  ///
  /// - Parameter keyPath: A key path that begins at the model.
  /// - Returns: The name; nil where the key path is no stored property.
  static func fieldName(for keyPath: AnyKeyPath) -> String?
}

/// A key path that can cross threads: every literal one that captures nothing, such as `\Movie.title`.
public typealias SendableKeyPath<Root, Value> = any KeyPath<Root, Value> & Sendable

/// A key path of any property of a type that can cross threads.
public typealias SendablePartialKeyPath<Root> = any PartialKeyPath<Root> & Sendable
