import PersistenceCore
import PersistenceDriverSupport

/// Three versions of an app that open one store in turn; then the store is made anew with the first version.
///
/// The second version adds fields and an index. The third one computes fields in a chain, makes a model in a step, and
/// removes a field: one opening changes three models and writes records.
enum Upgrades {
  private static let count = 60

  private enum Second: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Account.self, Shelf.Second.self]
  }

  private enum Third: StoreSchema {
    static let models: [any PersistentRecord.Type] = [ShelfOwner.self, Account.self, Shelf.Chained.self]
    static let evolution: [EvolutionRule] =
      ChainChecks.Chained.evolution + [
        .step(making: ShelfOwner.self) { old, new in
          for shelf in try old.filter(Shelf.First.self, where: \.owner != nil).result() {
            try new.insert(ShelfOwner(name: shelf.owner ?? "", shelves: shelf.id))
          }
        },
        .remove("owner", from: "Shelf"),
      ]
  }

  private static let shelves = Shelf.First.samples(count)
  private static let accounts = (1...20).map { Account($0, balance: $0) }

  /// Makes the store of a number: opens it with the next version, or makes it anew.
  static func apply(_ number: Int, to repository: Repository) throws {
    switch number % 3 {
    case 1: try repository.evolved(Second.self)
    case 2: try repository.evolved(Third.self)
    default: try renew(repository)
    }
  }

  private static func renew(_ repository: Repository) throws {
    let storage = try repository.storage
    let (shelf, account) = (try Shelf.First.schema.model, try Account.schema.model)
    try storage.transaction { transaction in
      for schema in try transaction.catalog() { try transaction.drop(schema) }
      for schema in [shelf, account] { try transaction.define(schema) }
      let row = RowBuffer(count: shelf.fields.count)
      for record in shelves {
        try record.encode(into: row)
        try row.withRow { try transaction.insert($0, in: shelf) }
      }
      let other = RowBuffer(count: account.fields.count)
      for record in accounts {
        try record.encode(into: other)
        try other.withRow { try transaction.insert($0, in: account) }
      }
    }
  }

  /// Checks that a store is that of one version, whole.
  ///
  /// - Returns: The number of the version, from 0 to 2.
  static func version(of repository: Repository) throws -> Int {
    let storage = try repository.storage
    let catalog = try storage.catalog()
    let shelf = try require(catalog.first { $0.name == "Shelf" }, "a model Shelf")
    let names = try storage.modelNames()
    func expectAll<Record: PersistentRecord & Equatable>(_ records: [Record], _ version: Int) throws {
      try expect(
        Array(repository.fetch(Record.self)), equals: records, "\(Record.self) of version \(version)")
    }
    if names.contains("ShelfOwner") {
      let owners = shelves.filter { $0.owner != nil }.map { ShelfOwner(name: $0.owner ?? "", shelves: $0.id) }
      try expectAll(owners.sorted { $0.name < $1.name }, 2)
      try expectAll(shelves.map { Shelf.Chained($0) }, 2)
      try expectAll(accounts, 2)
      try expectNothingToChange(Third.self, storage)
      return 2
    }
    try expect(names.sorted(), equals: ["Account", "Shelf"])
    if shelf.position(of: "rating") != nil {
      try expectAll(shelves.map { Shelf.Second($0) }, 1)
      try expectAll(accounts, 1)
      try expectNothingToChange(Second.self, storage)
      return 1
    }
    try expect(catalog.map(\.name).sorted(), equals: ["Account", "Shelf"], "models of the first version")
    try expectAll(shelves, 0)
    try expectAll(accounts, 0)
    return 0
  }

  private static func expectNothingToChange(
    _ schema: any StoreSchema.Type, _ storage: any StorageContext
  ) throws {
    let witness = WitnessedContext(storage)
    _ = try Repository(witness, schema: schema)
    try expect(witness.transactions, equals: 0, "the transactions of an opening again with \(schema)")
  }
}
