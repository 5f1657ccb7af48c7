import PersistenceDriver
import Synchronization
import PersistencePrimitives

/// The bytes between the values of a canonical record file, prepared for ``RecordScanner``.
final class RecordLayout: Sendable {
  struct Field: Sendable {
    var position: Int
    var kind: FieldKind
    var isOptional: Bool
    /// The bytes before the value: the end of the previous member, and the name.
    var prefix: [UInt8]
  }

  let schema: ModelSchema
  let indexed: IndexedFields
  /// The fields by the bytes of their names.
  let fields: [Field]
  /// The bytes after the last value.
  let end = Array("\n}\n".utf8)
  /// The past that the layout is for.
  let past: ModelPast?
  /// The members of files from before a change of schema; nil if there are none.
  let earlier: EarlierMembers?

  init(_ schema: ModelSchema, _ past: ModelPast? = nil) {
    self.schema = schema
    self.past = past
    indexed = IndexedFields(schema, past)
    fields = Self.fields(schema.fields.enumerated().map { ($1.name, $0) }, in: schema)
    earlier = past.map { EarlierMembers($0, in: schema) }
  }

  /// The fields of files with these members.
  static func fields(_ members: [(name: String, position: Int)], in schema: ModelSchema) -> [Field] {
    let sorted = members.sorted { StoredName($0.name) < StoredName($1.name) }
    return sorted.enumerated().map { number, member in
      let field = schema.fields[member.position]
      let start = number == 0 ? "{" : ","
      return Field(
        position: member.position, kind: field.kind, isOptional: field.isOptional,
        prefix: Array("\(start)\n  \(JSONText.canonical(.string(member.name))): ".utf8))
    }
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
