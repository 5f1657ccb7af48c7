import Foundation
import PersistenceDriver

/// The checkpoint of a migration, stored in the destination by the same transactions that copy records.
///
/// The ledger is a model with a reserved name: one record per copied model, and one, with an empty name, for the
/// migration itself. While it holds records, the store is incomplete; removing it publishes the copy. A second reserved
/// model holds the rejects.
struct Ledger {
  var head: LedgerHead
  var entries: [LedgerEntry]

  static func schema() throws -> ModelSchema {
    try ModelSchema(
      name: ReservedModel.fillLedger,
      fields: [FieldSchema("model", .string), FieldSchema("content", .string)], key: ["model"])
  }

  static func rejectSchema() throws -> ModelSchema {
    try ModelSchema(
      name: ReservedModel.migrationRejects,
      fields: [FieldSchema("number", .int64), FieldSchema("content", .string)], key: ["number"])
  }

  /// Whether a model is a migration's own, which no copy contains.
  static func isOwn(_ schema: ModelSchema) -> Bool {
    [ReservedModel.fillLedger, ReservedModel.migrationRejects].contains {
      StoredName($0) == StoredName(schema.name)
    }
  }

  /// Reads the ledger in a store's latest state; nil if there is none.
  static func find(in context: any StorageContext) throws -> Ledger? {
    try find(in: context.snapshot(), location: context.location)
  }

  /// Reads the ledger; nil if there is none, or an empty one.
  ///
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/otherMigration`` if another version of this package
  ///   wrote it, and ``PersistenceError/Code/damaged`` if it is unreadable.
  static func find(in reader: any StorageReader, location: String) throws -> Ledger? {
    guard try exists(in: reader) else { return nil }
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
              "another version of this package started the unfinished migration (ledger format \(format)); finish it "
                + "with that version, or restart it", location: location)
          }
          head = try JSONDecoder().decode(LedgerHead.self, from: data)
        } else {
          entries.append(try JSONDecoder().decode(LedgerEntry.self, from: data))
        }
      } catch let error as DecodingError {
        throw damage("is unreadable (\(error))", location)
      }
    }
    if let head {
      guard Set(head.schemas.map { StoredName($0.name) }) == Set(entries.map { StoredName($0.model) }) else {
        throw damage("lacks an entry for a model", location)
      }
      return Ledger(head: head, entries: entries)
    }
    guard entries.isEmpty else { throw damage("has lost its head", location) }
    return nil
  }

  private static func damage(_ reason: String, _ location: String) -> PersistenceError {
    PersistenceError(
      .damaged, "the ledger of the unfinished migration \(reason); restart the migration", location: location)
  }

  private struct Format: Decodable { var format: Int }

  /// Whether the store defines the ledger's model.
  static func exists(in reader: any StorageReader) throws -> Bool {
    try reader.schema(named: ReservedModel.fillLedger) != nil
  }

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

extension ReservedModel {
  /// The records that a migration rejected.
  static let migrationRejects = "persistence.migration.rejects"
}
