import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceHTTP
import PersistenceJSON
import PersistencePrimitives
import Testing

@testable import PersistenceTool

@Suite("Every spelling of a value, in every place that reads values")
struct ValueFormTests {
  private static func schema(_ kind: FieldKind) throws -> ModelSchema {
    try ModelSchema(
      name: "Form", fields: [FieldSchema("id", .int64), FieldSchema("value", kind, isOptional: true)],
      key: ["id"])
  }

  private static func forms(_ kind: FieldKind) -> [(id: Int, form: ValueForm)] {
    ValueForm.all.filter { $0.kind == kind }.enumerated().map { (id: $0 + 1, form: $1) }
  }

  private static func record(_ id: Int, _ form: ValueForm) -> String {
    "{\"id\": \(id), \"value\": \(form.json)}"
  }

  @Test("The profiles accept what their table says", arguments: FieldKind.allCases)
  func profiles(kind: FieldKind) throws {
    #expect(!Self.forms(kind).isEmpty)
    for (_, form) in Self.forms(kind) {
      let json = try JSONParser.parse(form.json)
      #expect(ValueReader.strict.value(json, kind) == form.strict, "strict \(form.json)")
      #expect(ValueReader.lenient.value(json, kind) == form.lenient, "lenient \(form.json)")
    }
  }

  @Test("What is written is canonical: the strict profile reads it back", arguments: FieldKind.allCases)
  func canonical(kind: FieldKind) throws {
    let field = FieldSchema("value", kind)
    for case let (_, form) in Self.forms(kind) {
      guard let value = form.lenient else { continue }
      let json = try ValueWriter.json(value, field)
      #expect(ValueReader.strict.value(json, kind) == value, "\(form.json) as \(JSONText.canonical(json))")
      let text = ValueWriter.text(value, kind)
      #expect(ValueReader.strict.value(ofText: text, kind) == value, "\(form.json) as \(text)")
      #expect(ValueReader.lenient.value(ofText: text, kind) == value, "\(form.json) as \(text)")
    }
  }

  @Test("Records over HTTP are strict", arguments: FieldKind.allCases)
  func http(kind: FieldKind) throws {
    let schema = try Self.schema(kind)
    let row = RowBuffer(count: 2)
    for (id, form) in Self.forms(kind) {
      let json = try JSONParser.parse(Self.record(id, form))
      guard let value = form.strict else {
        let error = try #require(throws: PersistenceError.self, "\(form.json)") {
          try RecordJSON.read(json, schema, into: row)
        }
        #expect(error.code == .invalidRequest && error.field == "value")
        continue
      }
      try RecordJSON.read(json, schema, into: row)
      #expect(try row.withRow { try $0.value(at: 1) } == value, "\(form.json)")
    }
  }

  @Test(
    "Files of a JSON directory may be written by hand, and are rewritten canonically",
    arguments: FieldKind.allCases)
  func directory(kind: FieldKind) throws {
    let schema = try Self.schema(kind)
    let folder = try TemporaryFolder()
    let store = try JSONDirectoryContext(
      path: folder("store"), configuration: JSONDirectoryConfiguration(synchronization: .off))
    try store.transaction { try $0.define(schema) }
    for (id, form) in Self.forms(kind) {
      let file = URL(fileURLWithPath: folder("store") + "/Form/\(id).json")
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(Self.record(id, form).utf8).write(to: file)
      let key = RecordKey([.integer(Int64(id))])
      var found: PersistentValue?
      guard let value = form.lenient else {
        let error = try #require(throws: PersistenceError.self, "\(form.json)") {
          _ = try store.find(key, in: schema) { _ in }
        }
        #expect(error.code == .damaged && error.field == "value", "\(form.json)")
        continue
      }
      _ = try store.find(key, in: schema) { found = try $0.value(at: 1) }
      #expect(found == value, "\(form.json)")
      let row = RowBuffer(count: 2)
      row.set([.integer(Int64(id)), value])
      try store.transaction { transaction in try row.withRow { try transaction.save($0, in: schema) } }
      let written = try JSONParser.parse(String(contentsOf: file, encoding: .utf8))
      #expect(written.member("value").flatMap { ValueReader.strict.value($0, kind) } == value, "\(form.json)")
    }
    try store.close()
  }

  @Test("Import reads what people write, and converts to text", arguments: FieldKind.allCases)
  func imports(kind: FieldKind) throws {
    let schema = try Self.schema(kind)
    let folder = try TemporaryFolder()
    let open = {
      try JSONDirectoryContext(
        path: folder("store"), configuration: JSONDirectoryConfiguration(synchronization: .off))
    }
    let empty = try open()
    try empty.transaction { try $0.define(schema) }
    try empty.close()
    let forms = Self.forms(kind)
    let records = forms.map { Self.record($0.id, $0.form) }.joined(separator: "\n")
    let run = ToolHarness()(
      "import", try folder.file("forms.ndjson", records), "json:\(folder("store"))", "--model", "Form")
    #expect(run.code == (forms.allSatisfy { $0.form.imported != nil } ? 0 : 2), "\(run)")
    let store = try open()
    for (id, form) in forms {
      var found: PersistentValue?
      _ = try store.find(RecordKey([.integer(Int64(id))]), in: schema) { found = try $0.value(at: 1) }
      #expect(found == form.imported, "\(form.json)")
    }
  }
}
