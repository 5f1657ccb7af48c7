import PersistenceDriver
import Testing

@testable import PersistenceKeyValue

@Suite("Catalog records that are compared without decoding them")
struct CatalogRecordTests {
  private static func schema(
    _ name: String = "Note", _ fields: [FieldSchema] = CatalogRecordTests.fields, key: [String] = ["id"],
    indexes: [IndexSchema] = [IndexSchema(["text", "day"]), IndexSchema(["day"], isUnique: true)]
  ) throws -> ModelSchema {
    try ModelSchema(name: name, fields: fields, key: key, indexes: indexes)
  }

  private static let fields = [
    FieldSchema("id", .int64), FieldSchema("text", .string, isOptional: true), FieldSchema("day", .date),
  ]

  private static let long = String(repeating: "x", count: 300)

  private func isUnchanged(_ schema: ModelSchema, _ model: StoredModel) throws -> Bool {
    try model.encoded().withUnsafeBytes {
      try StoredModel.isUnchanged(schema, StoredModel.checked($0))
    }
  }

  @Test(
    "E6 a schema with any name is found to be the stored one",
    arguments: ["", "Note", "\u{0}", "a\u{0}", "\u{0}b", "\u{E9}", "e\u{301}", CatalogRecordTests.long])
  func same(name: String) throws {
    let fields = Self.fields + [FieldSchema(name + "x", .document)]
    let schema = try Self.schema(name, fields)
    let model = StoredModel(number: 7, schema: schema)
    #expect(try isUnchanged(schema, model))
    #expect(try isUnchanged(Self.schema(name, fields), model))
    try model.encoded().withUnsafeBytes { record in
      let values = try StoredModel.checked(record)
      for other in [
        "", "Note", "Not", "Note!", "\u{0}", "a", "a\u{0}", "a\u{0}\u{0}", "\u{E9}", "e\u{301}", "e",
        Self.long,
      ] {
        let isSame = StoredName(other) == StoredName(name)
        #expect(try StoredModel.isNamed(other, values) == isSame, "\(other.debugDescription)")
      }
    }
  }

  @Test("E4 a schema that differs in anything, or a model with a history, is not the stored one")
  func different() throws {
    let (schema, fields) = (try Self.schema(), Self.fields)
    let model = StoredModel(number: 7, schema: schema)
    var (wider, optional, renamed) = (fields, fields, fields)
    wider[0].kind = .string
    optional[2].isOptional = true
    renamed[1].name = "texts"
    for other in [
      try Self.schema("Notes"), try Self.schema("Note", fields.reversed()), try Self.schema("Note", wider),
      try Self.schema("Note", optional), try Self.schema("Note", fields + [FieldSchema("more", .bool)]),
      try Self.schema("Note", renamed, indexes: []), try Self.schema(indexes: []),
      try Self.schema(indexes: [IndexSchema(["text", "day"]), IndexSchema(["day"])]),
      try Self.schema(indexes: [IndexSchema(["day", "text"]), IndexSchema(["day"], isUnique: true)]),
    ] {
      #expect(try !isUnchanged(other, model), "\(other)")
      #expect(try !isUnchanged(schema, StoredModel(number: 7, schema: other)), "\(other)")
    }
    var awaited = model
    awaited.indexing = .awaited
    #expect(try !isUnchanged(schema, awaited))
    var evolved = model
    evolved.evolution = ModelEvolution(
      revision: 2, earlier: [], indexNumbers: [0, 1], recordsNumber: nil)
    #expect(try !isUnchanged(schema, evolved))
  }

  @Test("E5 a record whose checksum is wrong is damaged, whatever is looked for")
  func damaged() throws {
    let schema = try Self.schema()
    let record = try StoredModel(number: 7, schema: schema).encoded()
    for index in record.indices {
      var damaged = record
      damaged[index] ^= 1
      let error = #expect(throws: PersistenceError.self) {
        try damaged.withUnsafeBytes { _ = try StoredModel.checked($0) }
      }
      #expect(error?.code == .damaged)
    }
  }
}
