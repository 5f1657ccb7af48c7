import Foundation
import PersistenceCore
import PersistenceDriver

/// A write that waits for the remote layer, or that it has rejected.
struct OutboxRecord: PersistentRecord {
  struct Key: PersistentKey {
    var model: String
    var number: Int
    var keyValues: [PersistentValue] { model.keyValues + number.keyValues }
  }

  var model: String
  var number: Int
  var batch: UUID
  var changes: Data
  var created: Date
  var attempts: Int = 0
  var isSetAside = false
  var errorCode: String?
  var errorMessage: String?

  static let schema = RecordSchema<OutboxRecord>(
    reserved: ReservedModel.outbox,
    fields: [
      .field("model", \.model), .field("number", \.number), .field("batch", \.batch),
      .field("changes", \.changes), .field("created", \.created), .field("attempts", \.attempts),
      .field("isSetAside", \.isSetAside), .field("errorCode", \.errorCode),
      .field("errorMessage", \.errorMessage),
    ], key: [\.model, \.number], indexes: [RecordIndex(\.model, \.isSetAside, \.number)])

  var primaryKey: Key { Key(model: model, number: number) }

  init(model: String, number: Int, batch: UUID, changes: Data, created: Date) {
    (self.model, self.number, self.batch) = (model, number, batch)
    (self.changes, self.created) = (changes, created)
  }

  init(from row: borrowing Row) throws {
    (
      model, number, batch, changes, created, attempts, isSetAside, errorCode, errorMessage
    ) = try row.decodeFields()
  }

  func encode(into row: RowBuffer) throws {
    row.encodeFields(model, number, batch, changes, created, attempts, isSetAside, errorCode, errorMessage)
  }
}

/// A change in the outbox.
///
/// It stores fields by name, so it survives new fields and another field order.
struct OutboxChange: Codable {
  enum Kind: String, Codable { case insert, update, save, delete }

  /// A field and its value.
  ///
  /// A list keeps names apart that differ only in Unicode normalization; a dictionary would not.
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

  /// The change with objects of the model.
  ///
  /// - Throws: `schemaMismatch` if the model lacks a field of the change, or has a new field that must not be
  ///   nil.
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
        throw mismatch("the field “\(field.name)” was removed", schema)
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
      "the outbox entry of a \(schema.name) was written with another schema: \(reason); resend it with new "
        + "changes, or discard it", model: schema.name)
  }
}
