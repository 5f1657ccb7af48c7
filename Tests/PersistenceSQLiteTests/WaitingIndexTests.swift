import PersistenceDriver
import PersistenceSQLite
import Testing

/// Indexes that a change of schema leaves unbuilt.
@Suite struct WaitingIndexTests {
  private let scratch: Scratch
  private let context: SQLiteContext
  private let stored: ModelSchema
  private let target: ModelSchema

  init() throws {
    scratch = try Scratch()
    context = try scratch.open()
    stored = try EvolutionTests.movie()
    target = try EvolutionTests.movie(
      indexes: stored.indexes + [
        IndexSchema(["rating"]), IndexSchema(["link"], isUnique: true), IndexSchema(["year", "title"]),
      ])
    try context.fill(stored, EvolutionTests.rows)
    var change = try EvolutionTests.keeping(stored, as: target)
    change.defersIndexes = true
    try context.transaction { try $0.evolve(change) }
  }

  /// The number of indexes in the file, without those that SQLite makes itself.
  private func indexCount() throws -> Int {
    try context.rows("SELECT 1 FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL").count
  }

  private func step() throws -> Bool {
    var isBuilt = false
    try context.transaction { isBuilt = try $0.buildIndexes(of: target) }
    return isBuilt
  }

  private func waiting(_ schema: ModelSchema? = nil) throws -> [[String]] {
    try context.unbuiltIndexes(of: schema ?? target).map(\.fields)
  }

  @Test("each transaction builds one index, which the file contains then")
  func steps() throws {
    #expect(try waiting() == [["rating"], ["year", "title"]])
    #expect(try indexCount() == 3)
    #expect(try !step())
    #expect(try waiting() == [["year", "title"]])
    #expect(try indexCount() == 4)
    try context.close()
    let reopened = try scratch.open()
    #expect(try reopened.unbuiltIndexes(of: target).map(\.fields) == [["year", "title"]])
    var isBuilt = false
    try reopened.transaction { isBuilt = try $0.buildIndexes(of: target) }
    #expect(isBuilt)
    #expect(try reopened.unbuiltIndexes(of: target).isEmpty)
    let layouts = try reopened.rows("SELECT layout FROM persistence_catalog")
    #expect(!"\(layouts)".contains("await"))
  }

  @Test("an index costs the catalog if it may wait")
  func cost() throws {
    func change(_ index: IndexSchema, defers: Bool) throws -> SchemaChange {
      let more = try EvolutionTests.movie(indexes: target.indexes + [index])
      var change = try EvolutionTests.keeping(target, as: more)
      change.defersIndexes = defers
      return change
    }
    #expect(try context.cost(of: change(IndexSchema(["title", "rating"]), defers: true)) == .catalog)
    #expect(try context.cost(of: change(IndexSchema(["title", "rating"]), defers: false)) == .indexes)
    #expect(
      try context.cost(of: change(IndexSchema(["title", "rating"], isUnique: true), defers: true)) == .indexes
    )
  }

  @Test("a rolled-back step builds nothing")
  func rollback() throws {
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try context.transaction { transaction in
        _ = try transaction.buildIndexes(of: target)
        throw Stop()
      }
    }
    #expect(try waiting() == [["rating"], ["year", "title"]])
    #expect(try indexCount() == 3)
  }

  @Test("other changes leave a waiting index as it is, a removed one disappears, and a rewrite builds all")
  func changes() throws {
    let added = try EvolutionTests.adding([(FieldSchema("stars", .int64), .integer(1))], to: target)
    #expect(try context.cost(of: added) == .catalog)
    try context.transaction { try $0.evolve(added) }
    #expect(try waiting(added.target) == [["rating"], ["year", "title"]])
    let fields = added.target.fields
    let less = try EvolutionTests.movie(
      "Movie", fields, indexes: stored.indexes + [IndexSchema(["year", "title"])])
    try context.transaction { try $0.evolve(EvolutionTests.keeping(added.target, as: less)) }
    #expect(try waiting(less) == [["year", "title"]])
    #expect(try indexCount() == 2)
    let computed = try EvolutionTests.movie(
      "Movie", fields + [FieldSchema("new", .int64)], indexes: less.indexes + [IndexSchema(["new"])])
    var rewrite = try SchemaChange(
      from: less, to: computed, sources: fields.indices.map { .field($0) } + [.computed]
    ) { $1.set(.integer(4), at: 0) }
    rewrite.defersIndexes = true
    try context.transaction { try $0.evolve(rewrite) }
    #expect(try waiting(computed).isEmpty)
    #expect(try indexCount() == 4)
    #expect(try context.values(FetchRequest(computed)).allSatisfy { $0.last == .integer(4) })
  }
}
