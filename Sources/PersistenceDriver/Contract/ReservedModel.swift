/// The names of models that this package keeps in stores for itself, beside the models of an app.
///
/// To a driver they are models like any other: defined, written and dropped in transactions. An app cannot declare a
/// model of such a name. Each module that keeps one adds its name in an extension.
public enum ReservedModel {
  /// The prefix of all reserved names.
  public static let prefix = "persistence."

  /// The ledger of a copy that is still filling the store.
  ///
  /// A store with records of this model is incomplete: see ``PersistenceError/Code/incompleteStore``.
  public static let fillLedger = "persistence.migration"

  /// Whether a model's name is reserved.
  ///
  /// - Parameter name: The name.
  /// - Returns: Whether it begins with ``prefix``.
  public static func isReserved(_ name: String) -> Bool { name.utf8.starts(with: prefix.utf8) }
}
