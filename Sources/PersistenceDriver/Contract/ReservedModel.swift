/// The names of models that stores keep for this package's own ends, beside the models of an app.
///
/// They are models like any other to a context: defined, written and dropped in transactions. An app cannot declare
/// one of such a name.
public enum ReservedModel {
  /// What all reserved names begin with.
  public static let prefix = "persistence."

  /// How far a migration has come.
  ///
  /// A store that holds this model is not yet whole: see
  /// ``PersistenceError/Code/incompleteStore``.
  public static let migrationLedger = "persistence.migration"

  /// The records that a migration could not carry over.
  public static let migrationRejects = "persistence.migration.rejects"

  /// The ids of the batches that were applied lately: see ``AppliedBatches``.
  public static let appliedBatches = "persistence.batches"

  /// The writes that wait until a remote store has them.
  public static let outbox = "persistence.outbox"

  /// What layered stores know of the completeness of what is kept here.
  public static let coverage = "persistence.layers.coverage"

  /// The keys of records that may not be as they are elsewhere.
  public static let doubts = "persistence.layers.doubts"

  /// How often layered stores have written each model.
  public static let layers = "persistence.layers"

  /// Whether a model's name is reserved.
  ///
  /// - Parameter name: The name.
  /// - Returns: Whether it begins with ``prefix``.
  public static func isReserved(_ name: String) -> Bool { name.utf8.starts(with: prefix.utf8) }
}
