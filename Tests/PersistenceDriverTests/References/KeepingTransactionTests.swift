import PersistenceDriver
import PersistenceDriverSupport
import Testing

/// References in changes of schema.
struct KeepingTransactionTests {
  private func films(_ reference: String) throws -> ModelSchema {
    try ModelSchema(
      name: "Film", fields: [FieldSchema("id", .int64), FieldSchema(reference, .int64)], key: ["id"])
  }

  @Test("V3 E6 L1 a reference follows a rename to the other normal form of its name")
  func normalForms() throws {
    let context = MemoryContext()
    let (composed, decomposed) = (try films("\u{E9}"), try films("e\u{301}"))
    let reference = StoredReference(model: "Film", field: "\u{E9}", target: "Studio", rule: .restrict)
    try context.transaction { transaction in
      try transaction.define(
        ModelSchema(name: "Studio", fields: [FieldSchema("id", .int64)], key: ["id"]))
      try transaction.define(composed)
      try ReferenceLedger.save(reference, in: transaction)
    }
    try context.keepingTransaction(.exclusive) {
      try $0.evolve(SchemaChange(from: composed, to: decomposed, sources: [.field(0), .field(1)]))
    }
    let stored = try ReferenceLedger.references(context)
    #expect(stored.map { StoredName($0.field) } == [StoredName("e\u{301}")])
    #expect(stored != [reference])
    let error = #expect(throws: PersistenceError.self) {
      try context.keepingTransaction(.exclusive) { transaction in
        let row = RowBuffer(count: 2)
        row.set([.integer(1), .integer(9)])
        try row.withRow { try transaction.insert($0, in: decomposed) }
      }
    }
    #expect(error?.code == .brokenReference)
  }

  @Test("L1 E2 a reference to a key of another kind is a broken one")
  func otherKind() throws {
    let context = MemoryContext()
    let films = try films("studio")
    try context.transaction { transaction in
      try transaction.define(
        ModelSchema(name: "Studio", fields: [FieldSchema("id", .string)], key: ["id"]))
      try transaction.define(films)
      let row = RowBuffer(count: 2)
      row.set([.integer(1), .integer(9)])
      try row.withRow { try transaction.insert($0, in: films) }
    }
    let reference = StoredReference(model: "Film", field: "studio", target: "Studio", rule: .restrict)
    let error = #expect(throws: PersistenceError.self) {
      try context.requireTargets(of: reference, location: "")
    }
    #expect(error?.code == .brokenReference)
  }
}
