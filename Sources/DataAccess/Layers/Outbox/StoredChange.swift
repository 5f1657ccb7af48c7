import PersistenceCore
import PersistenceDriver

/// A change as the outbox keeps it: fields by name, so that an entry outlives a new field or another order of fields.
struct StoredChange: Codable {
  enum Kind: String, Codable { case insert, update, save, delete }

  /// A field and its value.
  ///
  /// A list of these, and no dictionary by texts, in which two names that differ only in their normal form would be one.
  struct Field: Codable {
    var name: String
    var value: PersistentValue
  }

  var kind: Kind
  var object: [Field]
  var expected: [Field]?

  init<Object: PersistentRecord>(_ change: ObjectChange<Object>) throws {
    switch change {
    case .insert: kind = .insert
    case .update(_, let old):
      kind = .update
      expected = try old.map(Self.fields)
    case .save: kind = .save
    case .delete: kind = .delete
    }
    object = try Self.fields(of: change.object)
  }

  /// The change as one of objects.
  ///
  /// - Throws: `schemaMismatch` where it has a field that the model has no more, or lacks one that must not be nil.
  func change<Object: PersistentRecord>(of type: Object.Type) throws -> ObjectChange<Object> {
    let object = try Self.object(object, of: type)
    switch kind {
    case .insert: return .insert(object)
    case .update: return .update(object, replacing: try expected.map { try Self.object($0, of: type) })
    case .save: return .save(object)
    case .delete: return .delete(object)
    }
  }

  private static func fields<Object: PersistentRecord>(of object: Object) throws -> [Field] {
    let schema = try Object.schema.model
    let row = RowBuffer(count: schema.fields.count)
    try object.encode(into: row)
    let values = try row.withRow { try $0.values() }
    return zip(schema.fields, values).map { Field(name: $0.name, value: $1) }
  }

  private static func object<Object: PersistentRecord>(
    _ fields: [Field], of type: Object.Type
  ) throws -> Object {
    let schema = try type.schema.model
    let row = RowBuffer(count: schema.fields.count)
    var missing = Set(schema.fields.indices)
    for field in fields {
      guard let position = schema.position(of: field.name) else {
        throw mismatch("the field “\(field.name)” is no more", schema)
      }
      row.set(field.value, at: position)
      missing.remove(position)
    }
    if let position = missing.sorted().first(where: { !schema.fields[$0].isOptional }) {
      throw mismatch("the field “\(schema.fields[position].name)” is new and must not be nil", schema)
    }
    return try row.withRow { row in
      try schema.validate(row)
      return try type.init(from: row)
    }
  }

  private static func mismatch(_ reason: String, _ schema: ModelSchema) -> PersistenceError {
    PersistenceError(
      .schemaMismatch,
      "a write of a \(schema.name) was put into the outbox under another declaration: \(reason); resend it as another "
        + "change, or discard it", model: schema.name)
  }
}
