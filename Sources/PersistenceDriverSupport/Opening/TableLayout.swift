package import PersistenceDriver

/// How a SQL table keeps its rows.
package enum TableLayout: String, Sendable, Hashable, Encodable {
  /// In one B-tree, in the order of the integer key.
  case integerKey
  /// In one B-tree, in the order of the key, which is not a single integer.
  case clustered
  /// By numbers of their own, beside an index of the key.
  case rowID

  /// The layout in words.
  package var text: String {
    switch self {
    case .integerKey: "rows in the order of the key"
    case .clustered: "rows in the order of the key (WITHOUT ROWID)"
    case .rowID: "rows by row ID, and an index of the key"
    }
  }
}

/// A context that knows how its tables keep their rows.
package protocol TableLayoutReporting: StorageContext {
  /// The layout of a model's table; nil where a view or a virtual table holds the model, or the store does not hold it.
  func rowLayout(of schema: ModelSchema) throws -> TableLayout?
}
