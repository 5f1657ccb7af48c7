/// A model whose stored properties have names, so that predicates and sort criteria over key paths can be made.
public protocol PersistentFields: PersistentModel {
  /// The stored name of a property.
  ///
  /// - Parameter keyPath: A key path that begins at the model.
  /// - Returns: The name; nil where the key path is no stored property.
  static func fieldName(for keyPath: AnyKeyPath) -> String?
}
