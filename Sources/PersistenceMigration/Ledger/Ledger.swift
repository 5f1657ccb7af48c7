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
    [ReservedModel.fillLedger, ReservedModel.migrationRejects, ReservedModel.move].contains {
      StoredName($0) == StoredName(schema.name)
    }
  }
}

extension ReservedModel {
  /// The records that a migration rejected.
  static let migrationRejects = "persistence.migration.rejects"
}

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

/// The identity of a migration in the ledger.
///
/// The property names are the stored format.
struct LedgerHead: Codable, Hashable {
  /// The ledger format that this version of the package writes.
  static let currentFormat = 1

  var format = currentFormat
  /// The location of the source, without secrets.
  var source: String
  /// The schemas of the copied models in the source.
  var schemas: [ModelSchema]
  /// The models' names in the destination, in the same order.
  var destinationNames: [String]
  var mapping: MigrationMapping
  var allowsLoss: Bool
  var conflicts: MigrationOptions.Conflicts
  var hasDigests: Bool

  /// Describes how this migration differs from another; nil if they are the same.
  func difference(from other: LedgerHead) -> String? {
    if source != other.source { return "its source is \(source), not \(other.source)" }
    let (names, others) = (schemas.map(\.name), other.schemas.map(\.name))
    if names.map(StoredName.init) != others.map(StoredName.init) {
      return "it copies the models \(names.joined(separator: ", ")), not \(others.joined(separator: ", "))"
    }
    for (schema, other) in zip(schemas, other.schemas) {
      let differences = other.differences(from: schema)
      if !differences.isEmpty {
        return "\(schema.name) has changed in the source: \(differences.joined(separator: "; "))"
      }
    }
    if destinationNames.map(StoredName.init) != other.destinationNames.map(StoredName.init) {
      return "it renames models differently"
    }
    if mapping != other.mapping || allowsLoss != other.allowsLoss { return "it maps fields differently" }
    if conflicts != other.conflicts {
      return "it resolves conflicts by \(conflicts.rawValue), not \(other.conflicts.rawValue)"
    }
    if hasDigests != other.hasDigests {
      return hasDigests
        ? "it computes digests, so this run must verify by digest"
        : "it computes no digests, so this run cannot verify by digest"
    }
    return nil
  }
}

/// The state of one model in the ledger.
///
/// The property names are the stored format.
struct LedgerEntry: Codable {
  /// The last completed step.
  enum State: String, Codable {
    /// Records remain to be copied.
    case copying
    /// All records are copied; indexes are missing.
    case copied
    /// The indexes are built.
    case indexed
  }

  /// A store's records of one model.
  struct Content: Codable, Hashable {
    var count = 0
    var digest: ContentDigest?
  }

  /// The model's name in the source.
  var model: String
  /// The model's schema in the destination.
  var destination: ModelSchema
  /// Whether the migration defined the model, so that a restart may drop it.
  var isOurs: Bool
  var state = State.copying
  /// The key of the last processed record.
  var lastKey: RecordKey?
  /// The number of processed unreadable records after ``lastKey``.
  var failuresBehind = 0
  /// The value of ``lastKey`` before the last transaction.
  var keyBeforeBatch: RecordKey?
  var counts = MigrationCounts()
  var bytes = 0
  /// The digest of the records read, after mapping.
  var read: ContentDigest?
  /// The destination's records before the migration, and now.
  var before = Content()
  var now = Content()

  init(_ mapper: RecordMapper, isOurs: Bool, before: Content) {
    model = mapper.source.name
    destination = mapper.destination
    self.isOurs = isOurs
    self.before = before
    now = before
    read = before.digest.map { _ in ContentDigest() }
  }

  /// The position at which reading continues.
  var position: ReadPosition {
    ReadPosition(key: lastKey, offset: counts.read - failuresBehind, failures: failuresBehind)
  }
}
