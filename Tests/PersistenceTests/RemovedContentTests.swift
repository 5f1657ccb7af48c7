import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import Testing

/// Removed fields and models: hidden, restored, erased (contract S8).
@Suite("Removed fields and models")
struct RemovedContentTests {
  private let context = MemoryContext()
  private var repository: Repository { Repository(context) }

  /// A store of `Film` with the removed field `nick` (formerly `alias`), and the removed model `Draft`.
  init() throws {
    let film = try ModelSchema(
      name: "Film", fields: [FieldSchema("id", .int64), FieldSchema("nick", .string)], key: ["id"],
      indexes: [IndexSchema(["nick"])])
    let draft = try ModelSchema(name: "Draft", fields: [FieldSchema("id", .int64)], key: ["id"])
    try context.transaction { transaction in
      try transaction.define(film)
      try transaction.define(draft)
      let (row, key) = (RowBuffer(count: 2), RowBuffer(count: 1))
      for number in 1...3 {
        row.set([.integer(Int64(number)), .text("n\(number)")])
        try row.withRow { try transaction.insert($0, in: film) }
        key.set([.integer(Int64(number))])
        try key.withRow { try transaction.insert($0, in: draft) }
      }
      try removal().apply(in: transaction, location: context.location)
    }
  }

  private func removal() -> SchemaDocument {
    SchemaDocument(
      models: [
        .init(
          name: "Film", fields: [.init(schema: FieldSchema("id", .int64))], key: ["id"],
          removedFields: [.init(name: "nick", formerNames: ["alias"])])
      ], removedModels: [.init(name: "Draft")])
  }

  private func film() throws -> ModelSchema? { try context.schema(named: "Film") }

  @Test("Removed fields and models are listed with their last names")
  func list() throws {
    #expect(try repository.removedFields().map(\.name) == ["Film.nick"])
    #expect(try repository.removedFields().first?.formerNames == ["alias"])
    #expect(try repository.removedModels().map(\.name) == ["Draft"])
    try repository.transaction { inside in
      _ = #expect(throws: PersistenceError.self) { try (inside as? Repository)?.removedFields() }
    }
  }

  @Test("A restored field has its values again, and a restored model its records")
  func restore() throws {
    try repository.restore("nick", from: "Film")
    let schema = try #require(try film())
    #expect(schema.fields.map(\.name) == ["id", "nick"])
    #expect(schema.indexes == [IndexSchema(["nick"])])
    #expect(
      try context.count(FetchRequest(schema, where: .comparison(field: "nick", .equal, .text("n2")))) == 1)
    try repository.restore(model: "Draft")
    let draft = try #require(try context.schema(named: "Draft"))
    #expect(try context.count(FetchRequest(draft)) == 3)
    #expect(try repository.removedFields().isEmpty && repository.removedModels().isEmpty)
    let error = #expect(throws: PersistenceError.self) { try repository.restore("nick", from: "Film") }
    #expect(error?.code == .invalidRequest)
    // The rules remove them again.
    try context.transaction { try removal().apply(in: $0, location: context.location) }
    #expect(try repository.removedFields().map(\.name) == ["Film.nick"])
    #expect(try repository.removedModels().map(\.name) == ["Draft"])
    try repository.restore("nick", from: "Film")
    #expect(try film() == schema)
  }

  @Test("A taken name is not restored")
  func taken() throws {
    let draft = try ModelSchema(name: "Draft", fields: [FieldSchema("id", .int64)], key: ["id"])
    try context.transaction { transaction in
      try transaction.drop(ReservedModel.placeholder("Draft"))
      try transaction.define(draft)
    }
    let error = #expect(throws: PersistenceError.self) { try repository.restore(model: "Draft") }
    #expect(error?.code == .invalidRequest)
    #expect(try repository.removedModels().map(\.name) == ["Draft"])
  }

  @Test("Erased values are gone, and their names are never given again")
  func compact() throws {
    let removed = try repository.removedFields() + repository.removedModels()
    try repository.compact(erasing: removed)
    #expect(try film()?.fields.map(\.name) == ["id"])
    #expect(try film()?.indexes == [])
    #expect(
      try context.catalog().filter { !$0.isPlaceholder }.map(\.name).sorted() == [
        "Film", "persistence.schemas",
      ])
    #expect(try repository.removedFields().isEmpty && repository.removedModels().isEmpty)
    #expect(throws: PersistenceError.self) { try repository.compact(erasing: removed) }
    let again = ModelDeclaration(
      try ModelSchema(
        name: "Film", fields: [FieldSchema("id", .int64), FieldSchema("nick", .string, isOptional: true)],
        key: ["id"]))
    guard case .refused(let differences) = try SchemaFits.fit(again, context, location: "").fit else {
      Issue.record("a new field has the name of an erased one")
      return
    }
    #expect(differences.map(\.kind) == [.removed])
  }

  @Test("Erasing is all or nothing")
  func allOrNothing() throws {
    let removed = try repository.removedFields() + repository.removedModels()
    try repository.compact(erasing: repository.removedModels())
    let before = try context.catalog()
    #expect(throws: PersistenceError.self) { try repository.compact(erasing: removed) }
    #expect(try context.catalog() == before)
  }
}
