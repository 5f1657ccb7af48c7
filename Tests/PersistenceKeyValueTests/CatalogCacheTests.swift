import PersistenceDriver
import Testing

@testable import PersistenceKeyValue

/// The cache of a store's models.
struct CatalogCacheTests {
  @Test("S10 a model of a later generation is not found for a reader of an earlier one")
  func laterModel() throws {
    let cache = CatalogCache()
    let name = StoredName("Note")
    let schema = try ModelSchema(name: "Note", fields: [FieldSchema("id", .int64)], key: ["id"])
    #expect(cache.record(9, isOf: 1))
    cache.insert([StoredModel(number: 1, schema: schema)], of: 1)
    #expect(cache.model(name, of: 1)?.number == 1)
    // Another thread has read the catalog of a later version.
    #expect(cache.record(10, isOf: 2))
    cache.insert([StoredModel(number: 1, schema: schema)], of: 2)
    #expect(cache.model(name, of: 1) == nil)
    #expect(cache.model(name, of: 2)?.number == 1)
  }
}
