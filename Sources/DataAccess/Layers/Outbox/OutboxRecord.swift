import Foundation
import PersistenceCore
import PersistenceDriver

/// A write that waits for the remote store, or was refused by it.
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
    model = try row.decode(at: 0)
    number = try row.decode(at: 1)
    batch = try row.decode(at: 2)
    changes = try row.decode(at: 3)
    created = try row.decode(at: 4)
    attempts = try row.decode(at: 5)
    isSetAside = try row.decode(at: 6)
    errorCode = try row.decode(at: 7)
    errorMessage = try row.decode(at: 8)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(model, at: 0)
    row.encode(number, at: 1)
    row.encode(batch, at: 2)
    row.encode(changes, at: 3)
    row.encode(created, at: 4)
    row.encode(attempts, at: 5)
    row.encode(isSetAside, at: 6)
    row.encode(errorCode, at: 7)
    row.encode(errorMessage, at: 8)
  }
}
