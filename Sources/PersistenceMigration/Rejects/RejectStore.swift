import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistencePrimitives

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

  /// How many rejects are kept.
  static func count(in reader: any StorageReader) throws -> Int {
    try reader.count(try FetchRequest(try Ledger.rejectSchema()))
  }

  /// Some rejects that are kept, in the order in which they were.
  static func read(from reader: any StorageReader, after offset: Int = 0, limit: Int) throws
    -> [MigrationReject]
  {
    var rejects: [MigrationReject] = []
    let request = try FetchRequest(try Ledger.rejectSchema(), limit: limit, offset: offset)
    let results = try reader.fetch(request)
    _ = try results.read(from: 0, limit: limit) { row in
      rejects.append(try JSONDecoder().decode(MigrationReject.self, from: Data(row[1].borrowedBytes)))
    }
    return rejects
  }

  /// Tells a sink of all rejects that are kept, some at a time.
  static func tell(_ sink: any MigrationRejectSink, of reader: any StorageReader) throws {
    var (done, rejects) = (0, try read(from: reader, limit: page))
    try sink.begin(with: rejects)
    while rejects.count == page {
      done += page
      rejects = try read(from: reader, after: done, limit: page)
      if !rejects.isEmpty { try sink.add(rejects) }
    }
  }

  /// How many are held in memory.
  static let page = 1000
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
