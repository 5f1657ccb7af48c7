import Foundation
import PersistenceDriver
import Testing

/// Schemas: validation and differences (contract O1, E4, E6).
struct ModelSchemaTests {
  static let base = [FieldSchema("id", .int64), FieldSchema("name", .string, isOptional: true)]

  @Test("O1 E6 an invalid schema is rejected")
  func refusals() {
    func code(_ make: () throws -> ModelSchema) -> PersistenceError.Code? {
      do {
        _ = try make()
        return nil
      } catch { return (error as? PersistenceError)?.code }
    }
    let base = Self.base
    #expect(code { try ModelSchema(name: "A", fields: base, key: []) } == .invalidSchema)
    #expect(code { try ModelSchema(name: "A", fields: base, key: ["x"]) } == .invalidSchema)
    #expect(code { try ModelSchema(name: "A", fields: base, key: ["name"]) } == .invalidSchema)
    #expect(code { try ModelSchema(name: "A", fields: base, key: ["id", "id"]) } == .invalidSchema)
    #expect(code { try ModelSchema(name: "A", fields: base + [base[0]], key: ["id"]) } == .invalidSchema)
    let documents = base + [FieldSchema("d", .document), FieldSchema("f", .double)]
    #expect(code { try ModelSchema(name: "A", fields: documents, key: ["f"]) } == .invalidSchema)
    for fields in [[], ["d"], ["zz"], ["name", "name"]] {
      #expect(
        code { try ModelSchema(name: "A", fields: documents, key: ["id"], indexes: [IndexSchema(fields)]) }
          == .invalidSchema)
    }
    #expect(code { try ModelSchema(name: "", fields: base, key: ["id"]) } == nil)
  }

  @Test("E6 each field is found by its name, however alike the names are", arguments: [1, 9, 16, 17, 40])
  func positions(count: Int) throws {
    let alike = [
      "id", "a property with a long name", "a property with a last name", "a proper", "a propers",
      "a propert",
      "", "\u{0}", "\u{0}\u{0}", "é", "e\u{301}", "di", "id\u{0}",
    ]
    let names = Array((alike + (0..<40).map { "field \($0)" }).prefix(count))
    let schema = try ModelSchema(
      name: "A", fields: names.map { FieldSchema($0, .int64) }, key: ["id"])
    for (position, name) in names.enumerated() { #expect(schema.position(of: name) == position, "\(name)") }
    for name in ["a property with a lost name", "a prope", "field 99", "ID"] {
      #expect(schema.position(of: name) == nil, "\(name)")
    }
  }

  @Test("E6 two normal forms of a name are two names")
  func normalForms() throws {
    let schema = try ModelSchema(
      name: "A", fields: [FieldSchema("é", .int64), FieldSchema("e\u{301}", .string)], key: ["é"])
    #expect(schema.position(of: "é") == 0)
    #expect(schema.position(of: "e\u{301}") == 1)
  }

  @Test("E4 differences are listed by field, and ignore the order of fields")
  func differences() throws {
    let stored = try ModelSchema(
      name: "A",
      fields: [
        FieldSchema("id", .int64), FieldSchema("a", .string), FieldSchema("b", .double),
        FieldSchema("c", .date),
      ],
      key: ["id"], indexes: [IndexSchema(["a"], isUnique: true)])
    let declared = try ModelSchema(
      name: "A",
      fields: [
        FieldSchema("c", .date), FieldSchema("id", .int64), FieldSchema("a", .string, isOptional: true),
        FieldSchema("new", .bool),
      ], key: ["id"], indexes: [IndexSchema(["a"])])
    #expect(
      declared.differences(from: stored) == [
        "a: stored as string, declared as string?",
        "new: declared as bool, not in the store",
        "b: stored as double, not declared",
        "index (a): declared, not in the store",
        "index unique (a): in the store, not declared",
      ])
    let reordered = try ModelSchema(
      name: "A", fields: stored.fields.reversed(), key: ["id"], indexes: stored.indexes)
    #expect(reordered.differences(from: stored).isEmpty)
    #expect(throws: PersistenceError.self) { try declared.requireCompatible(with: stored, location: "x") }
  }

  @Test("E4 a schema survives encoding and decoding, and decoding validates it")
  func coding() throws {
    let schema = try ModelSchema(
      name: "A\u{0}é", fields: Self.base, key: ["id"], indexes: [IndexSchema(["name"], isUnique: true)])
    let data = try JSONEncoder().encode(schema)
    #expect(try JSONDecoder().decode(ModelSchema.self, from: data) == schema)
    let broken = String(decoding: data, as: UTF8.self).replacing("\"key\":[\"id\"]", with: "\"key\":[]")
    #expect(throws: PersistenceError.self) {
      try JSONDecoder().decode(ModelSchema.self, from: Data(broken.utf8))
    }
  }
}
