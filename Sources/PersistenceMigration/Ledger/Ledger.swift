import Foundation
import PersistenceDriver

/// How far a migration has come, as it stands in the destination: saved in the transactions that copy, so that it says
/// what is there, whatever is interrupted.
///
/// It is a model of a reserved name with one record for each model, and one without a name for the whole. While it
/// holds records the store counts as incomplete; publishing is removing it. A second model holds the records that were
/// put aside.
struct Ledger {
  var head: LedgerHead
  var entries: [LedgerEntry]

  /// The schema of the model that holds it.
  static func schema() throws -> ModelSchema {
    try ModelSchema(
      name: ReservedModel.fillLedger,
      fields: [FieldSchema("model", .string), FieldSchema("content", .string)], key: ["model"])
  }

  /// The schema of the model that holds what was put aside.
  static func rejectSchema() throws -> ModelSchema {
    try ModelSchema(
      name: ReservedModel.migrationRejects,
      fields: [FieldSchema("number", .int64), FieldSchema("content", .string)], key: ["number"])
  }

  /// Reads the ledger of a store; nil where there is none, or an emptied one.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/otherMigration`` where another version of this
  ///   package wrote it, and ``PersistenceError/Code/damaged`` where it cannot be read.
  static func read(from reader: any StorageReader, location: String) throws -> Ledger? {
    let schema = try schema()
    var (head, entries): (LedgerHead?, [LedgerEntry]) = (nil, [])
    let results = try reader.fetch(try FetchRequest(schema))
    _ = try results.read(from: 0, limit: Int.max) { row in
      let isHead = row[0].borrowedBytes.isEmpty
      let data = Data(row[1].borrowedBytes)
      do {
        if isHead {
          let format = try JSONDecoder().decode(Format.self, from: data).format
          guard format == LedgerHead.currentFormat else {
            throw PersistenceError(
              .otherMigration,
              "the unfinished migration was begun by another version of this package, whose ledger has the format "
                + "\(format); finish it with that version, or begin anew with --restart", location: location)
          }
          head = try JSONDecoder().decode(LedgerHead.self, from: data)
        } else {
          entries.append(try JSONDecoder().decode(LedgerEntry.self, from: data))
        }
      } catch let error as DecodingError {
        throw PersistenceError(
          .damaged,
          "the ledger of the unfinished migration cannot be read (\(error)); begin anew with --restart",
          location: location)
      }
    }
    if let head {
      guard Set(head.schemas.map { StoredName($0.name) }) == Set(entries.map { StoredName($0.model) }) else {
        throw PersistenceError(
          .damaged, "the ledger of the unfinished migration lacks a model; begin anew with --restart",
          location: location)
      }
      return Ledger(head: head, entries: entries)
    }
    guard entries.isEmpty else {
      throw PersistenceError(
        .damaged, "the ledger of the unfinished migration has lost its head; begin anew with --restart",
        location: location)
    }
    return nil
  }

  private struct Format: Decodable { var format: Int }

  /// Saves what is known of the whole.
  static func save(_ head: LedgerHead, in transaction: any StorageTransaction) throws {
    try save(head, as: "", in: transaction)
  }

  /// Saves what is known of a model.
  static func save(_ entry: LedgerEntry, in transaction: any StorageTransaction) throws {
    // A letter before the name, so that a model whose name is empty is not taken for the whole.
    try save(entry, as: "=" + entry.model, in: transaction)
  }

  /// Makes sure that nobody else has gone on with the migration since an entry was saved or read.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/busy``.
  static func require(
    _ entry: LedgerEntry, in transaction: any StorageTransaction, location: String
  ) throws {
    let (schema, text) = (try schema(), try text(entry))
    var isAsKnown = false
    let key = RecordKey([.text("=" + entry.model)])
    _ = try transaction.find(key, in: schema) { row in
      isAsKnown = row[1].borrowedText.elementsEqual(text.utf8)
    }
    guard isAsKnown else {
      throw PersistenceError(
        .busy, "another process goes on with this migration at the moment; wait until it has finished",
        model: entry.model, location: location)
    }
  }

  private static func text(_ value: some Encodable) throws -> String {
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

  /// Removes the ledger and what was put aside, after which the store counts as complete.
  static func remove(in transaction: any StorageTransaction) throws {
    for schema in [try Ledger.schema(), try rejectSchema()] {
      do {
        try transaction.drop(schema)
      } catch let error as PersistenceError where error.code == .unsupported {
        // An emptied ledger is none.
        _ = try transaction.deleteAll(in: schema)
      }
    }
  }
}

extension ReservedModel {
  /// The records that a migration could not carry over.
  static let migrationRejects = "persistence.migration.rejects"
}
