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
