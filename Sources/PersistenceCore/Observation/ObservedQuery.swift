import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

/// A query that is observed: what to watch, and how to read it, without its model's type.
struct ObservedQuery<Record: Sendable>: Sendable {
  /// A snapshot to read, and the changes that it shows; nil if there is nothing to read.
  typealias Look = (any StorageContext) throws -> (snapshot: any StorageSnapshot, changes: ChangeSet)?

  /// Whether the results depend on related records, so that no change of them has keys.
  let hasRelations: Bool
  /// The store of a context.
  let store: @Sendable (any PersistentContext) throws -> any StorageContext
  /// The requests to observe: that of the model first, then of the related ones.
  let requests: @Sendable (any StorageContext) throws -> [FetchRequest]
  /// Looks at a store, and passes what it shows to a closure.
  ///
  /// Each read has an access of its own, because another version of the app may have changed the schema.
  let read:
    @Sendable (any PersistentContext, Look, (PersistentResults<Record>, ChangeSet) -> Void) throws -> Void
}

extension ObservedQuery where Record: PersistentRecord {
  init(_ options: FetchOptions<Record>) {
    self.init(options, including: Inclusion<Record, Record>.nested)
  }
}

extension ObservedQuery {
  init<Model: PersistentRecord>(_ options: FetchOptions<Model>, including inclusion: Inclusion<Model, Record>)
  {
    let related = options.related + inclusion.related
    let hasRelations = options.isRelated
    self.hasRelations = hasRelations
    store = { context in
      for other in related { try other.requireAccess(to: context) }
      let model = try Model.recordType
      return try StorageAccess.store(
        context, for: model.type, model.schema, hasFormerNames: model.hasFormerNames)
    }
    requests = { store in
      // A driver evaluates no conditions on related records, so all records of the model are observed.
      let options = try RequestOptions.of(options)
      let own =
        hasRelations ? try FetchRequest(options.model.schema) : try options.request(at: store.location)
      let others = try related.map { try $0.declaration.schema }
      let declared = Set(others.map { StoredName($0.name) })
      let unknown = options.relatedNames.subtracting(declared).sorted()
      return [own]
        + (try (others + unknown.compactMap { try store.schema(named: $0.text) }).map { try FetchRequest($0) })
    }
    read = { context, look, body in
      let options = try RequestOptions.of(options)
      try StorageAccess.with(context, for: options.model, relating: related) { access in
        let store = access.root
        guard let (snapshot, changes) = try look(store) else { return }
        let answerable = try access.answerable(options, by: snapshot)
        let results = try store.monitor.measure(answerable.request) {
          try snapshot.plan(for: answerable.request)
        } _: {
          let rows = try FetchedRows(answerable, of: store, place: options.place, isPinned: true)
          return PersistentResults(storage: try Model.results(of: rows, including: inclusion))
        }
        body(results, changes)
      }
    }
  }
}
