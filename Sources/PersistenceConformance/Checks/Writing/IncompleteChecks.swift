import PersistenceCore

/// E4: stores with an unfinished migration.
enum IncompleteChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a repository rejects a store with an unfinished migration until the migration is published",
      [.e4], needs: [.writable, .droppingModels], marked),
    ConformanceCheck(
      "an empty migration ledger, as left by a context that cannot drop models, does not mark a"
        + " store incomplete", [.e4], emptied),
    ConformanceCheck(
      "a copy through one context ends what another context of the process knew of the store", [.e4],
      needs: [.writable, .droppingModels, .durable], shared),
    ConformanceCheck("an app cannot declare a model with a reserved name", [.e4], reserved),
  ]

  /// The part of the ledger that marks a store.
  static func ledger() throws -> ModelSchema {
    try ModelSchema(name: ReservedModel.fillLedger, fields: [FieldSchema("model", .string)], key: ["model"])
  }

  @Sendable private static func marked(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    let storage = try repository.storage
    try RowStore(storage, ledger()).save([[.text("")]])
    // The context works; only repositories throw.
    try storage.transaction { transaction in try transaction.define(Account.schema.model) }
    for isReopened in storage.capabilities.isDurable ? [false, true] : [false] {
      let repository = isReopened ? try store.open() : repository
      try expectError(.incompleteStore, "fetch") { try repository.fetch(Account.self) }
      try expectError(.incompleteStore, "find") { try repository.find(Account.self, id: 1) }
      try expectError(.incompleteStore, "count") { try repository.count(Account.self) }
      try expectError(.incompleteStore, "save") { try repository.save(Account(1, balance: 1)) }
      try expectError(.incompleteStore, "delete") { try repository.deleteAll(Account.self) }
      try expectError(.incompleteStore, "transaction") { try repository.transaction { _ in } }
      if isReopened { try repository.close() }
    }
    try storage.transaction { try $0.drop(ledger()) }
    try repository.save(Account(1, balance: 1))
    try expect(repository.fetch(Account.self).count == 1, "after the ledger was dropped")
  }

  @Sendable private static func emptied(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let storage = try repository.storage
    try RowStore(storage, ledger()).save([[.text("")]])
    try expectError(.incompleteStore, "fetch") { try repository.fetch(Account.self) }
    try storage.transaction { _ = try $0.deleteAll(in: ledger()) }
    try repository.save(Account(1, balance: 1))
    try expect(repository.fetch(Account.self).count == 1, "after the ledger was emptied")
  }

  @Sendable private static func shared(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let (first, second) = (try store.open(), try store.open())
    try first.save(Account(1, balance: 1))
    try expect(second.count(Account.self) == 1, "before the copy")
    let storage = try first.storage
    try storage.monitor.whileFilling { try RowStore(storage, ledger()).save([[.text("")]]) }
    try expectError(.incompleteStore, "count") { try second.count(Account.self) }
    try storage.transaction { try $0.drop(ledger()) }
    try expect(second.count(Account.self) == 1, "after the copy")
    for repository in [first, second] { try repository.close() }
  }

  @Sendable private static func reserved(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let error = try expectError(.invalidSchema, "save") { try repository.save(Impostor()) }
    try expect("\(error)".contains(ReservedModel.prefix), "\(error)")
    try expectError(.invalidSchema, "fetch") { try repository.fetch(Impostor.self) }
  }
}

/// A model with the ledger's name.
private struct Impostor: PersistentRecord {
  var id = 1

  static let schema = RecordSchema<Impostor>(
    ReservedModel.fillLedger, fields: [.field("id", \.id)], key: [\.id])

  var primaryKey: Int { id }

  init() {}
  init(from row: borrowing Row) throws { id = try row.decode(at: 0) }
  func encode(into row: RowBuffer) throws { row.encode(id, at: 0) }
}
