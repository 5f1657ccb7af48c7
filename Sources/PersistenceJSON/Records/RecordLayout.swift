import PersistenceDriver
import Synchronization

/// What the engine prepares to read the record files of a schema.
final class RecordLayout: Sendable {
  let schema: ModelSchema
  let indexed: IndexedFields
  /// The form of files with the schema's own members.
  let form: RecordForm
  /// The past that the layout is for.
  let past: ModelPast?
  /// The members of files from before a change of schema; nil if there are none.
  let earlier: EarlierMembers?

  init(_ schema: ModelSchema, _ past: ModelPast? = nil) {
    self.schema = schema
    self.past = past
    indexed = IndexedFields(schema, past)
    form = RecordForm(schema.fields.enumerated().map { ($1.name, $0) }, in: schema)
    earlier = past.map { EarlierMembers($0, in: schema) }
  }
}

/// A cache of the layouts of a store's schemas.
final class RecordLayouts: Sendable {
  private static let limit = 64
  private let known = Mutex<[ObjectIdentifier: RecordLayout]>([:])

  func layout(of schema: ModelSchema, _ past: ModelPast?) -> RecordLayout {
    known.withLock { known in
      // A layout retains its schema, so that no other schema can get its identity.
      if let layout = known[schema.identity], layout.past === past { return layout }
      if known.count >= Self.limit { known.removeAll() }
      let layout = RecordLayout(schema, past)
      known[schema.identity] = layout
      return layout
    }
  }
}
