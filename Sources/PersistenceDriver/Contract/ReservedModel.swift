import PersistencePrimitives

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
  package static func isReserved(_ name: String) -> Bool { name.utf8.starts(with: prefix.utf8) }

  /// The schema that keeps a name that a model once had, so that an earlier version of an app does not define it anew.
  ///
  /// It differs from every declaration, so that a driver throws ``PersistenceError/Code/schemaMismatch``.
  package static func placeholder(_ name: String) throws -> ModelSchema {
    try ModelSchema(name: name, fields: [FieldSchema(placeholderKey, .string)], key: [placeholderKey])
  }

  fileprivate static let placeholderKey = "\(prefix)renamed"
}

extension ModelSchema {
  /// Whether the model is none of the app's: its name is reserved, or it keeps the earlier name of a model.
  package var isReserved: Bool { ReservedModel.isReserved(name) || isPlaceholder }

  /// Whether the model keeps the earlier name of a model.
  package var isPlaceholder: Bool {
    fields.count == 1 && StoredName(fields[0].name) == StoredName(ReservedModel.placeholderKey)
  }
}
