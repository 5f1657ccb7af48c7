import PersistenceDriver
import PersistenceDriverSupport
import Testing

/// What a store remembers of names, in memory.
@Suite("Names of fields and models in a store's memory")
struct SchemaFitsTests {
  private let context = MemoryContext()

  private func declaration(
    _ model: String, was formerNames: [String] = [],
    _ fields: [(name: String, was: [String], fill: PersistentValue?)]
  ) throws -> ModelDeclaration {
    let schema = try ModelSchema(
      name: model, fields: [FieldSchema("id", .int64)] + fields.map { FieldSchema($0.name, .int64) },
      key: ["id"])
    let words = fields.map { ModelDeclaration.Field(formerNames: $0.was, fill: $0.fill) }
    return ModelDeclaration(
      schema, formerNames: formerNames, fields: [ModelDeclaration.Field()] + words)
  }

  private func open(_ declaration: ModelDeclaration) throws {
    let fits = SchemaFits(location: "")
    fits.declare(declaration)
    try context.transaction { try fits.evolve(declaration.schema, limit: .rewrite, in: $0) }
  }

  @Test(
    "S1 a pass is made where the stored rows are the declared ones, and its error leaves the mapping alone")
  func passes() throws {
    let stored = try declaration("Film", [("cost", [], nil)])
    try open(stored)
    try context.transaction { transaction in
      let row = RowBuffer(count: 2)
      for id in 0..<5 {
        row.set([.integer(Int64(id)), .integer(0)])
        try row.withRow { try transaction.insert($0, in: stored.schema) }
      }
    }
    let renamed = try declaration("Movie", was: ["Film"], [("price", ["cost"], nil)])
    let fewer = try declaration("Film", [])
    let more = try declaration("Film", [("cost", [], nil), ("year", [], .integer(1999))])
    let passing = PassingContext(context)
    for (declared, isPassed) in [(stored, true), (renamed, true), (fewer, false), (more, false)] {
      let fits = SchemaFits(location: "")
      fits.declare(declared)
      let fitted = FittedContext(passing, fits)
      let request = try FetchRequest(declared.schema, limit: 5)
      for _ in 0..<3 {
        var keys: [PersistentValue] = []
        let count = try fitted.readOnce(request) { keys.append(try $0.value(at: 0)) }
        #expect(count == (isPassed ? 5 : nil), "\(declared.schema.name)")
        #expect(keys == (isPassed ? (0..<5).map { .integer($0) } : []))
        guard isPassed else { continue }
        // As an obsolete mapping would throw it; the rows before it must not be passed on again.
        var calls = 0
        let error = #expect(throws: PersistenceError.self) {
          _ = try fitted.readOnce(request) { _ in
            calls += 1
            if calls == 4 { throw PersistenceError(.schemaMismatch, "of a document in the row") }
          }
        }
        #expect(error?.message == "of a document in the row" && calls == 4)
      }
    }
    let fits = SchemaFits(location: "")
    fits.declare(stored)
    #expect(try FittedContext(context, fits).readOnce(FetchRequest(stored.schema, limit: 5)) { _ in } == nil)
  }

  @Test("S3 two earlier names of one field are not two fields")
  func twoEarlierNames() throws {
    try open(declaration("Film", [("cost", [], nil)]))
    try open(declaration("Film", [("price", ["cost"], nil)]))
    try open(declaration("Film", [("budget", ["cost", "price"], nil)]))
    let both = try declaration("Film", [("cost", [], nil), ("price", [], nil)])
    guard case .refused(let differences) = try SchemaFits.fit(both, context, location: "").fit else {
      Issue.record("both names mean the same field")
      return
    }
    #expect(differences.map(\.kind) == [.renamed("budget")])
    #expect(differences.map { $0.field?.name } == ["price"])
    try open(declaration("Film", [("price", [], nil)]))
  }

  @Test("S4 the removal of a model under its earlier name keeps what the store remembers of its fields")
  func removalUnderEarlierName() throws {
    let first = try declaration("Sketch", [])
    try open(first)
    try open(declaration("Sketch", [("grade", [], .integer(3))]))
    try context.transaction { try SchemaFits.remove("Draft", formerNames: ["Sketch"], in: $0) }
    let histories = try SchemaLedger.histories(context)
    #expect(histories.count == 1, "\(histories)")
    #expect(histories.first?.model == ModelHistory.removedPrefix + "Sketch")
    #expect(histories.first?.field("grade").fill == .integer(3))

    let removed = try #require(try SchemaStore.removed(in: context).first)
    #expect(removed.name == "Sketch")
    try context.transaction { try SchemaStore.restore(removed, in: $0) }
    let fits = SchemaFits(location: "")
    fits.declare(first)
    try FittedContext(context, fits).transaction { transaction in
      try transaction.define(first.schema)
      let row = RowBuffer(count: 1)
      row.set([.integer(1)])
      try row.withRow { try transaction.insert($0, in: first.schema) }
    }
    let stored = try #require(try context.schema(named: "Sketch"))
    var values: [PersistentValue] = []
    #expect(try context.find(RecordKey([.integer(1)]), in: stored) { values = try $0.values() })
    #expect(values == [.integer(1), .integer(3)])
  }

  @Test("S3 a model that appears beside its earlier name is the one that is read and written")
  func modelBesideItsEarlierName() throws {
    let earlier = try declaration("Draft", [])
    let other = try declaration("Sketch", [])
    let renamed = try declaration("Sketch", was: ["Draft"], [])
    func insert(_ id: Int64, _ declaration: ModelDeclaration, in context: any StorageContext) throws {
      try context.transaction { transaction in
        let row = RowBuffer(count: 1)
        row.set([.integer(id)])
        try row.withRow { try transaction.insert($0, in: declaration.schema) }
      }
    }
    func keys() throws -> [PersistentValue] {
      var keys: [PersistentValue] = []
      _ = try fitted.fetch(FetchRequest(renamed.schema)).read(from: 0, limit: 10) { keys += try $0.values() }
      return keys
    }
    let fits = SchemaFits(location: "")
    fits.declare(renamed)
    let fitted = FittedContext(context, fits)

    try open(earlier)
    try insert(1, earlier, in: context)
    #expect(try keys() == [.integer(1)])
    // The program does not know that the model was named otherwise.
    try open(other)
    try insert(2, other, in: context)
    #expect(try keys() == [.integer(2)])
    let found = try [1, 2].map { try fitted.find(RecordKey([.integer($0)]), in: renamed.schema) { _ in } }
    #expect(found == [false, true])
    try insert(3, renamed, in: fitted)
    #expect(try context.count(FetchRequest(other.schema)) == 2)
    #expect(try context.count(FetchRequest(earlier.schema)) == 1)
  }
}

/// A context that passes rows on.
private final class PassingContext: StorageContextWrapper, SinglePassContext {
  let wrapped: any StorageContext

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  func readOnce(_ request: FetchRequest, _ body: (borrowing Row) throws -> Void) throws -> Int? {
    try wrapped.fetch(request).read(from: 0, limit: .max, body)
  }
}
