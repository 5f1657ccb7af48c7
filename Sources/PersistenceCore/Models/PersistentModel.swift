public import PersistenceDriver

/// A type whose values a context can store.
///
/// Its static members lead each call to the code for its context.
///
/// Most models are structs with `@Persistent`, which conforms them to ``PersistentRecord`` and so to this
/// protocol. A model of another framework (an object graph, Core Data, Realm) implements the static members
/// itself. It casts the context to the framework's type, and throws
/// ``PersistenceError/incompatibleContext(_:context:accepted:)`` if the cast fails. Such a model is `final`
/// if it is a class.
public protocol PersistentModel {
  /// Fetches the models of a context lazily.
  ///
  /// - Parameters:
  ///   - context: The context of the models.
  ///   - options: The options; nil for all models, ordered by primary key.
  /// - Returns: A lazy collection.
  /// - Throws: ``PersistenceError``; its code is ``PersistenceError/Code/incompatibleContext`` if the context
  ///   does not support the model.
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

  /// Adds models, or replaces those with the same identities; saves all or none.
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

  /// Deletes all models of this type, and no others.
  ///
  /// - Parameter context: The context.
  /// - Throws: ``PersistenceError``.
  static func deleteAll(in context: any PersistentContext) throws
}

/// A model with named stored properties, for predicates and sort criteria over key paths.
public protocol PersistentFields: PersistentModel {
  /// The stored name of a property.
  ///
  /// - Parameter keyPath: A key path that begins at the model.
  /// - Returns: The name; nil if the key path is not a stored property.
  static func fieldName(for keyPath: AnyKeyPath) -> String?
}

/// A Sendable key path, as every literal one that captures nothing is, such as `\Movie.title`.
public typealias SendableKeyPath<Root, Value> = any KeyPath<Root, Value> & Sendable

/// A Sendable key path to a property of any type.
public typealias SendablePartialKeyPath<Root> = any PartialKeyPath<Root> & Sendable
