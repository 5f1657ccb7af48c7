import Foundation
import PersistenceDriver

/// The records that were put aside, as they are kept in the destination until the migration is published.
enum RejectStore {
  /// Keeps rejects, the first of which has a number.
  static func save(
    _ rejects: [MigrationReject], from number: Int, in transaction: any StorageTransaction
  ) throws {
    guard !rejects.isEmpty else { return }
    let schema = try Ledger.rejectSchema()
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let row = RowBuffer(count: 2)
    for (index, reject) in rejects.enumerated() {
      row.reset()
      row.setCell(.integer(Int64(number + index)), at: 0)
      row.setText(String(decoding: try encoder.encode(reject), as: UTF8.self), at: 1)
      try row.withRow { try transaction.insert($0, in: schema) }
    }
  }

  /// All rejects that are kept, in the order in which they were.
  static func read(from reader: any StorageReader) throws -> [MigrationReject] {
    var rejects: [MigrationReject] = []
    let results = try reader.fetch(try FetchRequest(try Ledger.rejectSchema()))
    _ = try results.read(from: 0, limit: Int.max) { row in
      rejects.append(try JSONDecoder().decode(MigrationReject.self, from: Data(row[1].borrowedBytes)))
    }
    return rejects
  }
}

extension MigrationReject {
  /// A record that could not be read, or has no counterpart in the destination.
  init(_ error: PersistenceError, model: String, position: Int, record: String?) {
    self.init(
      model: model, position: position, key: error.key, code: error.code.rawValue, reason: error.message,
      record: record)
  }

  /// A record that the destination refused.
  init(_ error: PersistenceError, _ row: borrowing Row, _ schema: ModelSchema, model: String, position: Int) {
    self.init(
      model: model, position: position, key: try? RecordKey(of: row, in: schema), code: error.code.rawValue,
      reason: error.message, record: Self.text(of: row, schema))
  }

  /// The values by the names of their fields, written as in exported files; those that are none are left out.
  static func text(of row: borrowing Row, _ schema: ModelSchema) -> String? {
    var members: [JSONMember] = []
    for (position, field) in schema.fields.enumerated() {
      guard let value = try? row.value(at: position), let json = try? FieldText.json(value, field) else {
        continue
      }
      members.append(JSONMember(field.name, json))
    }
    return JSONText.canonical(.object(members))
  }
}
