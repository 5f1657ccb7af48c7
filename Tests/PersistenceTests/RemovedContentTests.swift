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

  @Test("S2 A program that removes a restored field inserts records before it removes the field again")
  func insertionBesideRestoredField() throws {
    try repository.restore("nick", from: "Film")
    let declaration = try #require(removal().models.first).declaration
    let fits = SchemaFits(location: context.location)
    fits.declare(declaration)
    try FittedContext(context, fits).transaction { transaction in
      let row = RowBuffer(count: 1)
      row.set([.integer(4)])
      try row.withRow { try transaction.insert($0, in: declaration.schema) }
    }
    let isEmpty = PredicateNode.comparison(field: "nick", .equal, .text(""))
    let film = try #require(try film())
    #expect(try context.count(FetchRequest(film, where: isEmpty)) == 1)
  }

  @Test("S10 A declaration that was the stored one still writes after another program has added a field")
  func writingAfterAddition() throws {
    let declared = try #require(try film())
    let fits = SchemaFits(location: context.location)
    let older = FittedContext(context, fits)
    // The store contains the declaration as it is, and the fits remember it.
    _ = try older.count(FetchRequest(declared))
    let fields = declared.fields + [FieldSchema("note", .string, isOptional: true)]
    let newer = try ModelSchema(name: "Film", fields: fields, key: ["id"], indexes: declared.indexes)
    let sources = declared.fields.indices.map { SchemaChange.Source.field($0) } + [.fill(.text("x"))]
    try context.transaction { try $0.evolve(SchemaChange(from: declared, to: newer, sources: sources)) }
    let row = RowBuffer(count: declared.fields.count)
    row.set([.integer(1), .text("new")])
    try older.transaction { transaction in
      try row.withRow { try transaction.update($0, in: declared) }
    }
    var found: [PersistentValue]?
    #expect(try context.find(RecordKey([.integer(1)]), in: newer) { found = try $0.values() })
    #expect(found == [.integer(1), .text("new"), .text("x")])
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

  @Test("Erasing something that the store does not hide erases nothing")
  func allOrNothing() throws {
    let removed = try repository.removedFields() + repository.removedModels()
    try repository.compact(erasing: repository.removedModels())
    let before = try context.catalog()
    #expect(throws: PersistenceError.self) { try repository.compact(erasing: removed) }
    #expect(try context.catalog() == before)
  }
}
