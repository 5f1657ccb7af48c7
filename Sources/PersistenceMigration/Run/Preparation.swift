import PersistenceDriver

/// What is done before the first record is copied: the destination is looked at, the models are defined, and the
/// ledger is begun, all in one transaction.
struct Preparation {
  let migration: Migration
  let routes: [ModelRoute]
  private var destination: any StorageContext { migration.destination }
  private var options: MigrationOptions { migration.options }

  init(_ migration: Migration, _ routes: [ModelRoute]) {
    self.migration = migration
    self.routes = routes
  }

  /// What tells this migration from another.
  var head: LedgerHead {
    LedgerHead(
      source: migration.source.location, schemas: routes.map(\.source),
      destinationNames: routes.map(\.destination.name), mapping: options.mapping,
      allowsLoss: options.allowLossy,
      conflicts: options.conflicts,
      hasDigests: options.verification.wantsDigest)
  }

  /// Begins a new migration.
  func begin() throws -> Ledger {
    // Asked outside of a transaction first, so that a refused destination is not even opened for writing.
    try requireFree(destination)
    destination.monitor.note(isComplete: false)
    var ledger = Ledger(head: head, entries: [])
    try destination.transaction { transaction in
      try requireFree(transaction)
      ledger.entries = try start(transaction)
    }
    return ledger
  }

  /// Begins anew, without what an unfinished migration left.
  func restart() throws -> Ledger {
    let known = try LedgerRemains.find(in: destination.snapshot())
    guard !known.isEmpty else { return try begin() }
    destination.monitor.note(isComplete: false)
    var ledger = Ledger(head: head, entries: [])
    // One transaction to undo and to begin, so that there is always a ledger to say what is to be undone.
    try destination.transaction { transaction in
      // Looked at again: another process may have finished the migration meanwhile, and then nothing is to be undone.
      let remains = try LedgerRemains.find(in: transaction)
      for entry in remains.entries { try undo(entry, transaction) }
      if !remains.isWhole { try requireNothingElse(transaction) }
      if !remains.isEmpty { try Ledger.remove(in: transaction) }
      try requireFree(transaction)
      ledger.entries = try start(transaction)
    }
    return ledger
  }

  /// Makes sure that an unfinished migration whose ledger is lost in part has left no record.
  private func requireNothingElse(_ reader: any StorageReader) throws {
    for schema in try reader.catalog() where !ReservedModel.isReserved(schema.name) {
      let count = try reader.count(try FetchRequest(schema))
      guard count == 0 else {
        throw PersistenceError(
          .damaged,
          "the ledger of the unfinished migration cannot be read as a whole, so the \(count) records of "
            + "\(schema.name) cannot be told from what stood there before; nothing was changed; remove the destination, "
            + "or put back what it was before the migration", model: schema.name,
          location: destination.location)
      }
    }
  }

  private func undo(_ entry: LedgerEntry, _ transaction: any StorageTransaction) throws {
    if entry.isOurs {
      do {
        return try transaction.drop(entry.destination)
      } catch let error as PersistenceError where error.code == .unsupported {
        // Without its records it does not stand in the way.
      }
    }
    // What stood there before cannot be told from what was copied beside it.
    if entry.before.count == 0 { _ = try transaction.deleteAll(in: entry.destination) }
  }

  private func start(_ transaction: any StorageTransaction) throws -> [LedgerEntry] {
    try transaction.define(Ledger.schema())
    try transaction.define(Ledger.rejectSchema())
    let present = Set(try transaction.catalog().map { StoredName($0.name) })
    var entries: [LedgerEntry] = []
    for route in routes {
      let schema = route.destination
      let isOurs = !present.contains(StoredName(schema.name))
      if isOurs, defersIndexes(of: schema) {
        try transaction.defineDeferringIndexes(schema)
      } else {
        try transaction.define(schema)
      }
      var before = LedgerEntry.Content(digest: options.verification.wantsDigest ? ContentDigest() : nil)
      if !isOurs, options.conflicts != .fail { before = try content(of: schema, in: transaction) }
      let entry = LedgerEntry(route, isOurs: isOurs, before: before)
      try Ledger.save(entry, in: transaction)
      entries.append(entry)
    }
    try Ledger.save(head, in: transaction)
    return entries
  }

  /// Whether indexes can wait until the records are there: not where a unique one is to say which record to put aside.
  private func defersIndexes(of schema: ModelSchema) -> Bool {
    options.failures == .stop || !schema.indexes.contains(where: \.isUnique)
  }

  private func content(of schema: ModelSchema, in reader: any StorageReader) throws -> LedgerEntry.Content {
    guard options.verification.wantsDigest else {
      return LedgerEntry.Content(count: try reader.count(try FetchRequest(schema)))
    }
    let content = try StoreContent.read(schema, from: reader, total: 0, phase: .verifying) { _ in }
    return LedgerEntry.Content(count: content.count, digest: content.digest)
  }

  /// Makes sure that no migration is under way in the destination and, unless conflicts are dealt with, that it holds
  /// no record of the models that are copied.
  private func requireFree(_ reader: any StorageReader) throws {
    let catalog = try reader.catalog()
    let ledger = StoredName(ReservedModel.fillLedger)
    // The ledger first: it says better than the records what stands there.
    for schema in catalog.filter({ StoredName($0.name) == ledger }) {
      guard try reader.count(try FetchRequest(schema)) == 0 else {
        throw PersistenceError.incompleteStore(destination.location)
      }
    }
    guard options.conflicts == .fail else { return }
    let names = Set(routes.map { StoredName($0.destination.name) })
    for schema in catalog where names.contains(StoredName(schema.name)) {
      let count = try reader.count(try FetchRequest(schema))
      guard count == 0 else {
        throw PersistenceError.destinationNotEmpty(
          schema.name, count: count, location: destination.location)
      }
    }
  }
}

extension Ledger {
  /// The ledger of a store's newest state; nil where there is none.
  static func find(in context: any StorageContext) throws -> Ledger? {
    try find(in: context.snapshot(), location: context.location)
  }

  /// The ledger of the state that is read; nil where there is none.
  static func find(in reader: any StorageReader, location: String) throws -> Ledger? {
    guard try exists(in: reader) else { return nil }
    return try read(from: reader, location: location)
  }

  /// Whether there is a model for it.
  static func exists(in reader: any StorageReader) throws -> Bool {
    try reader.schema(named: ReservedModel.fillLedger) != nil
  }
}
