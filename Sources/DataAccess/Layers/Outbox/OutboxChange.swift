import Foundation
import PersistenceCore
import PersistenceDriver

/// A change in the outbox.
///
/// It stores fields by name, so it survives another field order. ``EntryFit`` fits it to another schema.
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

  /// The change with objects of the present schema.
  ///
  /// - Throws: `schemaMismatch` if the change does not fit it.
  func change<Object: PersistentRecord>(_ fit: EntryFit<Object>) throws -> ObjectChange<Object> {
    let object = try fit.object(object)
    switch kind {
    case .insert: return .insert(object)
    case .update: return .update(object, replacing: try expected.map { try fit.object($0) })
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
}
