import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport
import Testing

/// What plans say about their reuse.
@Suite("Reused plans")
struct ReusedPlanTests {
  /// The engines that keep plans; the others plan each request.
  private static let keeping: Set<String> = ["sqlite", "lmdb"]

  private static func schema(_ indexes: [IndexSchema]) throws -> ModelSchema {
    try ModelSchema(
      name: "Item",
      fields: [FieldSchema("id", .int64), FieldSchema("name", .string), FieldSchema("size", .int64)],
      key: ["id"], indexes: [IndexSchema(["name"])] + indexes)
  }

  private static func evolve(_ storage: any StorageContext, _ old: ModelSchema, _ new: ModelSchema) throws {
    try storage.transaction {
      try $0.evolve(SchemaChange(from: old, to: new, sources: (0..<3).map { .field($0) }))
    }
  }

  private func read(_ request: FetchRequest, selecting positions: [Int]? = nil, _ storage: any StorageContext)
    throws -> Int
  {
    let results = try positions.map { try storage.fetch(request, selecting: $0) } ?? storage.fetch(request)
    return try results.read(from: 0, limit: 100) { _ in }
  }

  @Test(
    "a plan is reused after a request of its shape, until the schema changes",
    arguments: ContextUnderTest.ours)
  func reuse(context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let storage = try store.open().storage
    defer {
      try? storage.close()
      try? FileManager.default.removeItem(at: store.folder)
    }
    let isKept = Self.keeping.contains(context.name)
    let (first, second) = (try Self.schema([]), try Self.schema([IndexSchema(["size"])]))
    try storage.transaction { transaction in
      try transaction.define(first)
      let row = RowBuffer(count: 3)
      for id in 0..<20 {
        row.set([.integer(Int64(id)), .text("name \(id % 4)"), .integer(Int64(id))])
        try row.withRow { try transaction.insert($0, in: first) }
      }
    }
    func named(_ name: String?, _ schema: ModelSchema, isDescending: Bool = false) throws -> FetchRequest {
      try FetchRequest(
        schema, where: .comparison(field: "name", .equal, name.map { .text($0) } ?? .null),
        order: [FieldOrder("id", isDescending: isDescending)], limit: 3)
    }
    #expect(try !storage.plan(for: named("name 1", first)).isReused)
    #expect(try read(named("name 2", first), storage) == 3)
    let reused = try storage.plan(for: named("name 3", first))
    #expect(reused.isReused == isKept, "\(reused)")
    #expect("\(reused)".hasSuffix("; reused") == isKept)
    // Another value class, order or selection is another shape, and a request may ask for a plan of its own.
    #expect(try !storage.plan(for: named(nil, first)).isReused)
    #expect(try !storage.plan(for: named("name 3", first, isDescending: true)).isReused)
    #expect(try !storage.plan(for: named("name 3", first).plannedAnew).isReused)
    #expect(try read(named("name 1", first), selecting: [1], storage) == 3)
    #expect(try storage.plan(for: named("name 2", first), selecting: [1]).isReused == isKept)
    // The schema that the plans are of comes back, but the plans do not.
    for (old, new) in [(first, second), (second, first)] {
      try Self.evolve(storage, old, new)
      #expect(try !storage.plan(for: named("name 1", new)).isReused)
      #expect(try read(named("name 2", new), storage) == 3)
      #expect(try storage.plan(for: named("name 3", new)).isReused == isKept)
    }
  }
}
