import Foundation
import PersistenceDriver

extension Ledger {
  /// Saves the identity of the migration.
  static func save(_ head: LedgerHead, in transaction: any StorageTransaction) throws {
    try save(head, as: "", in: transaction)
  }

  /// Saves the state of a model.
  static func save(_ entry: LedgerEntry, in transaction: any StorageTransaction) throws {
    // The prefix distinguishes a model with an empty name from the head.
    try save(entry, as: "=" + entry.model, in: transaction)
  }

  /// Checks that no other process has advanced the migration since an entry was saved or read.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/busy``.
  static func require(
    _ entry: LedgerEntry, in transaction: any StorageTransaction, location: String
  ) throws {
    let (schema, text) = (try schema(), try text(entry))
    var isCurrent = false
    let key = RecordKey([.text("=" + entry.model)])
    _ = try transaction.find(key, in: schema) { row in
      isCurrent = row[1].borrowedText.elementsEqual(text.utf8)
    }
    guard isCurrent else {
      throw PersistenceError(
        .busy, "another process is running this migration; wait until it has finished",
        model: entry.model, location: location)
    }
  }

  /// A value as canonical JSON.
  static func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private static func save(
    _ value: some Encodable, as name: String, in transaction: any StorageTransaction
  ) throws {
    let row = RowBuffer(count: 2)
    row.setText(name, at: 0)
    row.setText(try text(value), at: 1)
    let schema = try schema()
    try row.withRow { try transaction.save($0, in: schema) }
  }

  /// Removes the ledger and the rejects; the store is then complete.
  static func remove(in transaction: any StorageTransaction) throws {
    for schema in [try Ledger.schema(), try rejectSchema()] {
      do {
        try transaction.drop(schema)
      } catch let error as PersistenceError where error.code == .unsupported {
        // An empty ledger counts as none.
        _ = try transaction.deleteAll(in: schema)
      }
    }
  }
}
