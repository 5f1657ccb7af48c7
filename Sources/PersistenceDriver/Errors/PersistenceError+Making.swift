extension PersistenceError {
  /// Stored data that cannot be what was written.
  public static func damaged(_ reason: String) -> PersistenceError {
    PersistenceError(.damaged, "\(reason); nothing was changed; restore the record or the store from a copy")
  }

  /// A schema that no store could keep.
  public static func invalidSchema(_ model: String, _ reason: String) -> PersistenceError {
    PersistenceError(.invalidSchema, "the model \(model) cannot be stored: \(reason)", model: model)
  }

  /// A request that makes no sense.
  public static func invalidRequest(_ reason: String) -> PersistenceError {
    PersistenceError(.invalidRequest, reason)
  }

  /// A name that is no stored field of a model.
  public static func unknownField(_ field: String, in schema: ModelSchema) -> PersistenceError {
    PersistenceError(
      .unknownField,
      "\(schema.name) stores no field “\(field)”; its fields are "
        + schema.fields.map(\.name).joined(separator: ", "),
      model: schema.name, field: field)
  }

  /// A store that was written with another schema than the declared one.
  public static func schemaMismatch(model: String, location: String, differences: [String])
    -> PersistenceError
  {
    PersistenceError(
      .schemaMismatch,
      "the store was written with another declaration of \(model): "
        + differences.joined(separator: "; ") + "; use the old declaration, or migrate the store",
      model: model, location: location)
  }

  /// An insert that met an existing key.
  public static func duplicateKey(_ key: RecordKey, in schema: ModelSchema) -> PersistenceError {
    PersistenceError(
      .duplicateKey, "a \(schema.name) of that key exists; use save or update to change it",
      model: schema.name, field: schema.key.joined(separator: ", "), key: key)
  }

  /// An update that met no record.
  public static func notFound(_ key: RecordKey, in schema: ModelSchema) -> PersistenceError {
    PersistenceError(
      .notFound, "there is no \(schema.name) of that key; use save or insert to add it", model: schema.name,
      key: key)
  }

  /// A second value in a unique index.
  public static func uniqueViolation(
    _ values: [PersistentValue], of index: IndexSchema, in schema: ModelSchema, key: RecordKey?
  ) -> PersistenceError {
    PersistenceError(
      .uniqueViolation,
      "another \(schema.name) has the unique value \(values.map { "\($0)" }.joined(separator: ", "))",
      model: schema.name, field: index.fields.joined(separator: ", "), key: key)
  }

  /// Another writer that did not finish in time.
  public static func busy(_ location: String, waited: Duration) -> PersistenceError {
    PersistenceError(
      .busy,
      "another writer held the store for longer than the \(waited) that a writer waits; try again, or "
        + "raise the busy time-out", location: location)
  }

  /// A context, transaction, snapshot or result that was used after its end.
  public static func closed(_ what: String) -> PersistenceError {
    PersistenceError(.closed, "\(what) is closed and can no longer be used")
  }

  /// A write to a store that may only be read.
  public static func readOnly(_ location: String) -> PersistenceError {
    PersistenceError(
      .readOnly, "the store may only be read; open it for writing, or make its files writable",
      location: location)
  }

  /// Something that a context cannot do.
  public static func unsupported(_ what: String, by context: String) -> PersistenceError {
    PersistenceError(.unsupported, "\(context) cannot \(what)")
  }

  /// The outer context, used inside the closure of its own transaction (R1a).
  public static func insideTransaction(_ location: String) -> PersistenceError {
    PersistenceError(
      .insideTransaction,
      "the store was used inside the closure of its own transaction, where it would wait for itself; use what "
        + "the closure was given", location: location)
  }
}
