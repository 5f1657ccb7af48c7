#if HTTP
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceHTTP
  import PersistencePrimitives

  /// The stored schemas of models as requests have read them, for later reads in terms of the store.
  ///
  /// Another process may change a schema at any time. A driver verifies the schema of each read, so an obsolete one ends
  /// in `schemaMismatch`; and a record that is found shows that the store still has the model under its name.
  final class KnownModels: Sendable {
    /// A model, the writer of its records, and its pages; a class, because each read takes one.
    final class Model: Sendable {
      let schema: ModelSchema
      let writer: RecordWriter
      let pages = PreparedPages()

      fileprivate init(_ schema: ModelSchema) {
        (self.schema, writer) = (schema, RecordWriter(schema.fields))
      }
    }

    private static let limit = 512

    /// Each read of a record or a page passes this lock.
    private let models = Lock<[StoredName: Model]>([:])

    /// The model with a name; nil if no request has read its schema.
    func model(named name: String) -> Model? {
      let name = StoredName(name)
      return models.withLock { $0[name] }
    }

    /// Keeps the stored schema of a model, unless the server would hide a part of it.
    func keep(_ schema: ModelSchema) {
      // Another process may have removed a field after the request found that no schema has changed.
      let isHidden = schema.isReserved || schema.fields.contains { ModelHistory.isRemoved($0.name) }
      guard !isHidden, model(named: schema.name)?.schema != schema else { return }
      let kept = Model(schema)
      models.withLock { models in
        if models.count >= Self.limit { models.removeAll() }
        models[StoredName(schema.name)] = kept
      }
    }

    /// Forgets a schema that the store has no longer.
    func forget(_ schema: ModelSchema) { models.withLock { $0[StoredName(schema.name)] = nil } }
  }
#endif
