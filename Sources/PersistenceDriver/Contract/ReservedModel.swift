/// The names of models that this package stores for its own use, beside the models of an app.
///
/// A driver treats them like any other model: it defines, writes and drops them in transactions. An app cannot
/// declare a model with a reserved name. Each module that stores such a model adds its name in an extension.
public enum ReservedModel {
  /// The prefix of all reserved names.
  public static let prefix = "persistence."

  /// The ledger of a copy that has not finished filling the store.
  ///
  /// A store with records of this model is incomplete: see ``PersistenceError/Code/incompleteStore``.
  public static let fillLedger = "persistence.migration"

  /// Whether a model's name is reserved.
  ///
  /// - Parameter name: The name.
  /// - Returns: Whether the name begins with ``prefix``.
  package static func isReserved(_ name: String) -> Bool { name.utf8.starts(with: prefix.utf8) }
}
