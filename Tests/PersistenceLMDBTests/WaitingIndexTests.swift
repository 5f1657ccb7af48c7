import Foundation
import PersistenceDriver
import PersistenceLMDB
import Testing

@Suite("Waiting indexes in LMDB")
struct WaitingIndexTests {
  private static let count = 300
  /// A memory that splits the build into several transactions.
  private static let configuration: LMDBConfiguration = {
    var configuration = LMDBConfiguration()
    configuration.indexMemory = 4096
    return configuration
  }()

  private static func target() throws -> ModelSchema { try Scratch.schema(indexes: [IndexSchema(["text"])]) }

  private static func fill(_ context: LMDBContext) throws {
    let stored = try Scratch.schema()
    try context.save((0..<count).map { ("n\($0)", "text \($0 % 10)") }, stored)
    var change = try SchemaChange(from: stored, to: target(), sources: [.field(0), .field(1)])
    change.defersIndexes = true
    #expect(try context.cost(of: change) == .catalog)
    let deferring = change
    try context.transaction { try $0.evolve(deferring) }
  }

  private static func step(_ context: LMDBContext) throws -> Bool {
    var isBuilt = false
    try context.transaction { isBuilt = try $0.buildIndexes(of: target()) }
    return isBuilt
  }

  @Test("S9 a change that copies the records begins a build again")
  func copied() throws {
    let context = try Scratch().open(Self.configuration)
    try Self.fill(context)
    #expect(try !Self.step(context))
    let stored = try Self.target()
    let target = try ModelSchema(
      name: "Note", fields: stored.fields + [FieldSchema("length", .int64)], key: ["id"],
      indexes: stored.indexes)
    let change = try SchemaChange(
      from: stored, to: target, sources: [.field(0), .field(1), .computed]
    ) { _, computed in computed.set(.integer(1), at: 0) }
    // A model whose keys follow, which an old position would take for the end.
    try context.transaction { transaction in
      try transaction.define(ModelSchema(name: "Tail", fields: stored.fields, key: ["id"]))
      try transaction.evolve(change)
    }
    try context.save([("tail", "text")], ModelSchema(name: "Tail", fields: stored.fields, key: ["id"]))
    #expect(try context.unbuiltIndexes(of: target) == target.indexes)
    var isBuilt = false
    while !isBuilt { try context.transaction { isBuilt = try $0.buildIndexes(of: target) } }
    for number in 0..<10 {
      let request = try FetchRequest(
        target, where: .comparison(field: "text", .equal, .text("text \(number)")),
        order: [FieldOrder("text")])
      #expect(try context.plan(for: request).access == .index(["text"]))
      #expect(try context.keys(request).count == Self.count / 10)
    }
    try context.close()
  }

  @Test("S9 a build goes on after its process was killed in a transaction of it")
  func killed() async throws {
    let scratch = try Scratch(sharedAs: "building", by: getpid())
    defer { try? FileManager.default.removeItem(at: scratch.folder) }
    try await #require(
      processExitsWith: .signal(SIGKILL),
      performing: {
        let scratch = try Scratch(sharedAs: "building", by: getppid())
        let context = try scratch.open(Self.configuration)
        try Self.fill(context)
        #expect(try !Self.step(context))
        #expect(try !Self.step(context))
        try context.transaction { transaction in
          _ = try transaction.buildIndexes(of: Self.target())
          kill(getpid(), SIGKILL)
        }
      })
    let context = try scratch.open(Self.configuration)
    let schema = try Self.target()
    let request = try FetchRequest(
      schema, where: .comparison(field: "text", .equal, .text("text 3")), order: [FieldOrder("text")])
    func check(isBuilt: Bool) throws {
      #expect(try context.unbuiltIndexes(of: schema).isEmpty == isBuilt)
      #expect(try (context.plan(for: request).access == .index(["text"])) == isBuilt)
      #expect(try context.count(request) == Self.count / 10)
    }
    try check(isBuilt: false)
    var steps = 1
    while try !Self.step(context) { steps += 1 }
    try check(isBuilt: true)
    // The killed process had done at least two of the transactions.
    let again = try LMDBContext(path: scratch.path + "2", configuration: Self.configuration)
    try Self.fill(again)
    var all = 1
    while try !Self.step(again) { all += 1 }
    #expect(steps == all - 2, "\(steps) of \(all)")
    try again.close()
    try context.close()
  }
}
