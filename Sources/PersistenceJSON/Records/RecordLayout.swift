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
  /// The indexed fields.
  let indexed: IndexedFields
  /// The fields by the bytes of their names.
  let fields: [Field]
  /// The bytes after the last value.
  let end = Array("\n}\n".utf8)

  init(_ schema: ModelSchema) {
    self.schema = schema
    indexed = IndexedFields(schema)
    let sorted = schema.fields.enumerated().sorted {
      StoredName($0.element.name) < StoredName($1.element.name)
    }
    fields = sorted.enumerated().map { number, field in
      let start = number == 0 ? "{" : ","
      return Field(
        position: field.offset, kind: field.element.kind, isOptional: field.element.isOptional,
        prefix: Array("\(start)\n  \(JSONText.canonical(.string(field.element.name))): ".utf8))
    }
  }
}

/// A cache of the layouts of a store's schemas.
final class RecordLayouts: Sendable {
  private static let limit = 64
  private let known = Mutex<[ObjectIdentifier: RecordLayout]>([:])

  /// The layout of a schema.
  func layout(of schema: ModelSchema) -> RecordLayout {
    known.withLock { known in
      // A layout retains its schema, so that no other schema can get its identity.
      if let layout = known[schema.identity] { return layout }
      if known.count >= Self.limit { known.removeAll() }
      let layout = RecordLayout(schema)
      known[schema.identity] = layout
      return layout
    }
  }
}
