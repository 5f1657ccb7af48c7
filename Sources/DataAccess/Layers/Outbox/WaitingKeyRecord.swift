import PersistenceCore
import PersistenceDriver

/// A key that a waiting entry changes, which finds the entries of a key without reading all of them.
struct WaitingKeyRecord: PersistentRecord {
  struct Key: PersistentKey {
    var model: String
    var part: String
    var number: Int
    var keyValues: [PersistentValue] { model.keyValues + part.keyValues + number.keyValues }
  }

  var model: String
  /// The name of the key.
  var part: String
  /// The number of the entry.
  var number: Int
  /// Whether the entry may have kept out a later change of the key; nil for no, and in records of earlier releases.
  var hasMissedChange: Bool?

  static let schema = RecordSchema<WaitingKeyRecord>(
    reserved: ReservedModel.waitingKeys,
    fields: [
      .field("model", \.model), .field("part", \.part), .field("number", \.number),
      .field("hasMissedChange", \.hasMissedChange),
    ],
    key: [\.model, \.part, \.number], indexes: [RecordIndex(\.model, \.number)])

  var primaryKey: Key { Key(model: model, part: part, number: number) }

  init(model: String, part: String, number: Int) {
    (self.model, self.part, self.number) = (model, part, number)
  }

  init(from row: borrowing Row) throws {
    (model, part, number, hasMissedChange) = try row.decodeFields()
  }

  func encode(into row: RowBuffer) throws { row.encodeFields(model, part, number, hasMissedChange) }
}

extension ReservedModel {
  /// The keys that waiting writes change.
  static let waitingKeys = "persistence.outbox.keys"
}
