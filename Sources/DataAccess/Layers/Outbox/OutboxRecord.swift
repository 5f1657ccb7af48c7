import Foundation
import PersistenceCore
import PersistenceDriver

/// A write that waits for the remote layer, or that was set aside.
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
  /// The number of failures with an error that is not transient.
  var attempts: Int = 0
  var isSetAside = false
  var errorCode: String?
  var errorMessage: String?
  /// The number of failures with any error; nil for none.
  var failures: Int?
  /// The number of failures while other entries passed; nil for none.
  var failuresAlone: Int?
  /// The name of the schema that the changes are written with; nil in entries of the first release.
  var schemaName: String?
  /// Whether no request has contained the entry, so that it may join others; nil for no, and in entries of earlier
  /// releases.
  var isUnsent: Bool?
  /// The id of the joint batch that contains the entry, or of the batch that contains its earlier changes, and whose
  /// outcome may be unknown; nil if it is sent alone.
  var joint: UUID?
  /// The number of the last entry of the joint batch; nil if the numbers have changed since.
  var jointEnd: Int?
  /// Whether the joint batch must be revoked before the entry is sent again; nil for no.
  var isRevoked: Bool?

  static let schema = RecordSchema<OutboxRecord>(
    reserved: ReservedModel.outbox,
    fields: [
      .field("model", \.model), .field("number", \.number), .field("batch", \.batch),
      .field("changes", \.changes), .field("created", \.created), .field("attempts", \.attempts),
      .field("isSetAside", \.isSetAside), .field("errorCode", \.errorCode),
      .field("errorMessage", \.errorMessage), .field("failures", \.failures),
      .field("failuresAlone", \.failuresAlone), .field("schema", \.schemaName),
      .field("isUnsent", \.isUnsent), .field("joint", \.joint), .field("jointEnd", \.jointEnd),
      .field("isRevoked", \.isRevoked),
    ], key: [\.model, \.number], indexes: [RecordIndex(\.model, \.isSetAside, \.number)])

  var primaryKey: Key { Key(model: model, number: number) }

  init(model: String, number: Int, batch: UUID, changes: Data, created: Date, schemaName: String?) {
    (self.model, self.number, self.batch) = (model, number, batch)
    (self.changes, self.created, self.schemaName) = (changes, created, schemaName)
  }

  init(from row: borrowing Row) throws {
    (
      model, number, batch, changes, created, attempts, isSetAside, errorCode, errorMessage, failures,
      failuresAlone, schemaName, isUnsent, joint, jointEnd, isRevoked
    ) = try row.decodeFields()
  }

  func encode(into row: RowBuffer) throws {
    row.encodeFields(
      model, number, batch, changes, created, attempts, isSetAside, errorCode, errorMessage, failures,
      failuresAlone, schemaName, isUnsent, joint, jointEnd, isRevoked)
  }

  /// Whether the batch to revoke contains earlier changes of the entry, and not the present ones.
  var isReplaced: Bool { joint != nil && isUnsent == true }

  /// Gives the entry a new id for other changes.
  ///
  /// A request with the earlier ones may still arrive, so its batch is revoked before the entry is sent.
  mutating func replaceBatch() {
    let earlier = self
    batch = UUID()
    follow(earlier)
  }

  /// Takes the place of an entry, with the same changes if it has the same id.
  ///
  /// A request with that entry may have arrived, or still arrive. Under its id, the remote layer applies the same changes
  /// once; a joint batch, and one with other changes, is revoked first.
  mutating func follow(_ earlier: OutboxRecord) {
    (isUnsent, joint, jointEnd) = (earlier.isUnsent, earlier.joint, earlier.jointEnd.map { max($0, number) })
    if batch != earlier.batch {
      if joint == nil, isUnsent != true { (joint, jointEnd) = (earlier.batch, number) }
      isUnsent = true
    }
    isRevoked = joint == nil ? nil : true
  }

  /// Makes the entry one that no request has contained.
  mutating func separate() { (isUnsent, joint, jointEnd, isRevoked) = (true, nil, nil, nil) }
}
