import PersistenceDriver
import PersistenceDriverSupport

/// The first transaction of a migration: checks the destination, defines the models and creates the ledger.
struct Preparation {
  let migration: Migration
  let mappers: [RecordMapper]
  private var destination: any StorageContext { migration.destination }
  private var options: MigrationOptions { migration.options }

  /// The identity of this migration.
  var head: LedgerHead {
    LedgerHead(
      source: migration.source.location, schemas: mappers.map(\.source),
      destinationNames: mappers.map(\.destination.name), mapping: options.mapping,
      allowsLoss: options.allowLossy, conflicts: options.conflicts,
      hasDigests: options.verification.computesDigests)
  }

  func begin() throws -> Ledger {
    // Check before the transaction too, so that a refused destination is not opened for writing.
    if !options.clearsDestination { try requireVacancy(in: destination) }
    try migration.rejects?.begin(with: [])
    var ledger = Ledger(head: head, entries: [])
    try destination.transaction { transaction in
      try clear(transaction)
      try requireVacancy(in: transaction)
      ledger.entries = try define(in: transaction)
    }
    return ledger
  }

  /// Removes what an unfinished migration copied, and starts a new one.
  func restart() throws -> Ledger {
    let unfinished = try RecoveredLedger.read(from: destination.snapshot())
    guard !unfinished.isEmpty else { return try begin() }
    try migration.rejects?.begin(with: [])
    var ledger = Ledger(head: head, entries: [])
    // One transaction removes and begins, so that the destination always has a ledger.
    try destination.transaction { transaction in
      // Read again: another process may have finished the migration in the meantime.
      let recovered = try RecoveredLedger.read(from: transaction)
      for entry in recovered.entries { try remove(entry, transaction) }
      if !recovered.isWhole, !options.clearsDestination { try requireNoRecords(in: transaction) }
      if !recovered.isEmpty { try Ledger.remove(in: transaction) }
      try clear(transaction)
      try requireVacancy(in: transaction)
      ledger.entries = try define(in: transaction)
    }
    return ledger
  }

  /// Checks that an unfinished migration with a damaged ledger left no records.
  private func requireNoRecords(in reader: any StorageReader) throws {
    for schema in try reader.catalog() where !schema.isReserved {
      let count = try reader.count(try FetchRequest(schema))
      guard count == 0 else {
        throw PersistenceError(
          .damaged,
          "the ledger of the unfinished migration is damaged and does not show which of the \(count) records of "
            + "\(schema.name) the migration copied; nothing was changed; delete the destination or restore a backup",
          model: schema.name, location: destination.location)
      }
    }
  }

  /// Removes all models, if the options say so, in the transaction that marks the store as incomplete.
  private func clear(_ transaction: any StorageTransaction) throws {
    guard options.clearsDestination else { return }
    for schema in try transaction.catalog() where !Ledger.isOwn(schema) {
      do {
        try transaction.drop(schema)
      } catch let error as PersistenceError where error.code == .unsupported {
        _ = try transaction.deleteAll(in: schema)
      }
    }
  }

  private func remove(_ entry: LedgerEntry, _ transaction: any StorageTransaction) throws {
    if entry.isOurs {
      do {
        return try transaction.drop(entry.destination)
      } catch let error as PersistenceError where error.code == .unsupported {
        // An empty model does not block the new migration.
      }
    }
    // Without the model's own definition, copied records cannot be distinguished from earlier ones.
    if entry.before.count == 0 { _ = try transaction.deleteAll(in: entry.destination) }
  }

  private func define(in transaction: any StorageTransaction) throws -> [LedgerEntry] {
    try transaction.define(Ledger.schema())
    try transaction.define(Ledger.rejectSchema())
    let present = Set(try transaction.catalog().map { StoredName($0.name) })
    var entries: [LedgerEntry] = []
    let histories = try SchemaLedger.histories(transaction)
    for mapper in mappers {
      let schema = mapper.destination
      try requirePresentName(of: schema, histories)
      let isOurs = !present.contains(StoredName(schema.name))
      if isOurs, defersIndexes(of: schema) {
        try transaction.defineDeferringIndexes(schema)
      } else {
        try transaction.define(schema)
      }
      var before = LedgerEntry.Content(digest: options.verification.computesDigests ? ContentDigest() : nil)
      if !isOurs, options.conflicts != .fail { before = try content(of: schema, in: transaction) }
      let entry = LedgerEntry(mapper, isOurs: isOurs, before: before)
      try Ledger.save(entry, in: transaction)
      entries.append(entry)
    }
    try Ledger.save(head, in: transaction)
    return entries
  }

  /// Checks that the destination has not given the model another name, under which it may contain records.
  private func requirePresentName(of schema: ModelSchema, _ histories: [ModelHistory]) throws {
    let later = histories.first { history in
      history.formerNames.containsName(schema.name) && !ModelHistory.isRemoved(history.model)
    }
    guard let later else { return }
    throw PersistenceError(
      .schemaMismatch,
      "the destination calls the model \(schema.name) “\(later.model)” now; nothing was copied; map the name, or open "
        + "the source with the schema of the destination's app first",
      model: schema.name, location: destination.location)
  }

  /// Whether index builds can wait for the records.
  ///
  /// A unique index must exist during the copy to identify rejects.
  private func defersIndexes(of schema: ModelSchema) -> Bool {
    options.failures == .stop || !schema.indexes.contains(where: \.isUnique)
  }

  private func content(of schema: ModelSchema, in reader: any StorageReader) throws -> LedgerEntry.Content {
    guard options.verification.computesDigests else {
      return LedgerEntry.Content(count: try reader.count(try FetchRequest(schema)))
    }
    let content = try ModelContent.read(schema, from: reader, phase: .verifying) { _ in }
    return LedgerEntry.Content(count: content.count, digest: content.digest)
  }

  /// Checks that no migration is unfinished in the destination, and that it holds no records of the models to copy,
  /// unless the options resolve conflicts; nor of any other model, if the copy is to equal the source.
  private func requireVacancy(in reader: any StorageReader) throws {
    let catalog = try reader.catalog()
    let ledger = StoredName(ReservedModel.fillLedger)
    // Check the ledger first: an unfinished migration explains the records.
    for schema in catalog.filter({ StoredName($0.name) == ledger }) {
      guard try reader.count(try FetchRequest(schema)) == 0 else {
        throw PersistenceError.incompleteStore(destination.location)
      }
    }
    guard options.conflicts == .fail else { return }
    let names = Set(mappers.map { StoredName($0.destination.name) })
    for schema in catalog
    where options.copiesEverything ? !Ledger.isOwn(schema) : names.contains(StoredName(schema.name)) {
      let count = try reader.count(try FetchRequest(schema))
      guard count == 0 else {
        throw PersistenceError.destinationNotEmpty(schema.name, count: count, location: destination.location)
      }
    }
  }
}
