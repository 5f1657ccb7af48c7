import PersistenceDriver
import PersistenceKeyValue
import Synchronization
import Testing

/// Numbers in the catalog have no checksum, so a damaged one may be of any size.
@Suite("Damaged numbers in the catalog")
struct CatalogDamageTests {
  private let store = VolatileStore()
  private let schema: ModelSchema

  init() throws {
    schema = try Self.schema()
    let context = try OrderedStoreContext(store)
    let schema = schema
    try context.transaction { try $0.define(schema) }
    try Self.insert(1, schema, context)
  }

  private static func schema(indexes: [IndexSchema] = []) throws -> ModelSchema {
    try ModelSchema(
      name: "Item", fields: [FieldSchema("id", .int64), FieldSchema("name", .string)], key: ["id"],
      indexes: indexes)
  }

  private static func insert(_ id: Int64, _ schema: ModelSchema, _ context: OrderedStoreContext) throws {
    try context.transaction { transaction in
      let row = RowBuffer(count: 2)
      row.set([.integer(id), .text("n\(id)")])
      try row.withRow { try transaction.insert($0, in: schema) }
    }
  }

  /// Sets a number in the catalog; the only model has the number 1.
  private func forge(_ name: String, _ number: UInt64, ofModel: Bool = true) {
    let model: [UInt8] = ofModel ? [0, 1] : []
    let key = Array(name.utf8) + model
    let value = withUnsafeBytes(of: number.bigEndian) { Array($0) }
    store.state.withLock { state in
      var catalog = state.content[.catalog] ?? []
      catalog.removeAll { $0.key == key }
      let place = catalog.firstIndex { key.lexicographicallyPrecedes($0.key) } ?? catalog.count
      catalog.insert((key: key, value: value), at: place)
      state.content[.catalog] = catalog
    }
  }

  private func expectDamaged(_ body: () throws -> Void) {
    let error = #expect(throws: PersistenceError.self) { try body() }
    #expect(error?.code == .damaged)
    #expect(error?.location == store.location)
  }

  @Test(
    "E5 a number of records that no store reaches is damaged, and does not crash",
    arguments: [1 << 62, UInt64(Int.max), .max] as [UInt64])
  func count(number: UInt64) throws {
    forge("count", number)
    let context = try OrderedStoreContext(store)
    expectDamaged { try Self.insert(2, schema, context) }
    let error = #expect(throws: PersistenceError.self) { _ = try context.count(FetchRequest(schema)) }
    #expect(error?.code == .damaged)
  }

  @Test(
    "E5 a number of schema changes that no store reaches is damaged, and does not crash",
    arguments: [1 << 62, .max] as [UInt64])
  func generation(number: UInt64) throws {
    forge("drops", number, ofModel: false)
    let context = try OrderedStoreContext(store)
    expectDamaged { try context.transaction { try $0.drop(schema) } }
  }

  @Test(
    "E5 a position of an index build that no store reaches is damaged, and does not crash",
    arguments: [1 << 62, UInt64(Int.max), .max] as [UInt64])
  func build(number: UInt64) throws {
    let context = try OrderedStoreContext(store)
    let target = try Self.schema(indexes: [IndexSchema(["name"])])
    var change = try SchemaChange(from: schema, to: target, sources: [.field(0), .field(1)])
    change.defersIndexes = true
    let deferring = change
    try context.transaction { try $0.evolve(deferring) }
    forge("build", number)
    expectDamaged { try context.transaction { _ = try $0.buildIndexes(of: target) } }
  }
}
