import PersistenceCore

/// A record with a unique value, and a value that is unique within a group.
struct UniqueValue<Value: OracleValue & ExactText>: PersistentRecord {
  var id: Int
  var value: Value?
  var group: String?
  var member: Value?

  init(_ id: Int, _ value: Value? = nil, group: String? = nil, member: Value? = nil) {
    self.id = id
    self.value = value
    self.group = group
    self.member = member
  }

  static var schema: RecordSchema<UniqueValue> {
    .shared(for: UniqueValue.self) {
      RecordSchema(
        "Unique \(Value.self)",
        fields: [
          .field("id", \.id), .field("value", \.value), .field("group", \.group), .field("member", \.member),
        ], key: [\.id],
        indexes: [RecordIndex(\.value, isUnique: true), RecordIndex(\.group, \.member, isUnique: true)])
    }
  }

  var primaryKey: Int { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    value = try row.decode(at: 1)
    group = try row.decode(at: 2)
    member = try row.decode(at: 3)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(value, at: 1)
    row.encode(group, at: 2)
    row.encode(member, at: 3)
  }
}
