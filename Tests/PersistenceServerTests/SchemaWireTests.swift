import Foundation
import PersistenceCore
import PersistenceDriver
import PersistenceHTTP
import PersistencePrimitives
import Testing

@Suite("Schemas and differences on the wire")
struct SchemaWireTests {
  @Test("a declaration of every kind survives JSON, with its earlier names and fills")
  func declarations() throws {
    let fills: [FieldKind: PersistentValue] = [
      .bool: .bool(true), .int8: .integer(-128), .int64: .integer(.max), .double: .double(.nan),
      .float: .double(0.5), .decimal: .decimal(1.25), .string: .text("ü\n\""), .url: .text("https://x.de"),
      .data: .bytes([0, 255]), .date: .date(0.25), .uuid: .uuid(UUID()),
      .document: .document(#"{"a":[null]}"#),
    ]
    let kinds = FieldKind.allCases
    let schema = try ModelSchema(
      name: "a/b",
      fields: [FieldSchema("key", .int64)] + kinds.map { FieldSchema($0.rawValue, $0, isOptional: true) },
      key: ["key"], indexes: [IndexSchema(["int64", "string"], isUnique: true)])
    let pasts =
      [ModelDeclaration.Field(formerNames: ["id", "ID"])] + kinds.map { .init(fill: fills[$0] ?? .null) }
    let sent = try WireSchema(ModelDeclaration(schema, formerNames: ["c", "d"], fields: pasts))
    let received = try WireSchema(received: JSONParser.parse(JSONText.canonical(sent.json)))
    #expect(received.digest == sent.digest)
    #expect(received.declaration.schema == schema)
    #expect(received.declaration.formerNames == ["c", "d"])
    #expect(received.declaration.fields.map(\.formerNames) == pasts.map(\.formerNames))
    for (field, past) in zip(schema.fields, zip(received.declaration.fields, pasts)) {
      #expect("\(String(describing: past.0.fill))" == "\(String(describing: past.1.fill))", "\(field)")
    }
    let other = try WireSchema(ModelDeclaration(schema, formerNames: ["c"], fields: pasts))
    #expect(other.digest != sent.digest)
  }

  @Test("every difference arrives as the value that was sent, and an unknown kind as words only")
  func differences() throws {
    let schema = try ModelSchema(
      name: "Film", fields: [FieldSchema("id", .int64), FieldSchema("title", .string, isOptional: true)],
      key: ["id"])
    let field = schema.fields[1]
    let kinds: [SchemaDifference.Kind] = [
      .missing, .optional, .required, .kind(FieldSchema("title", .data)), .renamed("name"), .removed,
      .source("other"), .key(["a", "b"]), .cost(.catalog), .cost(.indexes), .cost(.rewrite),
    ]
    let sent = kinds.map { SchemaDifference(schema, field, $0) } + [SchemaDifference(schema, nil, .removed)]
    var error = PersistenceError(.newerStore, "words", model: "Film")
    error.differences = sent
    let problem = Problem(error)
    let text = JSONText.canonical(problem.json)
    let arrived = try #require(Problem(JSONParser.parse(text), status: 409)).error(at: "here")
    #expect(arrived.code == .newerStore && arrived.differences == sent)
    #expect(sent.allSatisfy { text.contains(JSONText.canonical(.string($0.description))) })
    let unknown: JSONValue = ["model": "Film", "kind": "of a later version", "words": "do this"]
    #expect(SchemaDifference(unknown) == nil)
  }
}
