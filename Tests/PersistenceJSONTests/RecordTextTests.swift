import Foundation
import PersistenceDriver
import Testing

@testable import PersistenceJSON
import PersistencePrimitives

/// The names and texts of a JSON directory's files.
struct RecordTextTests {
  static let schema = Result {
    try ModelSchema(
      name: "Thing",
      fields: [
        FieldSchema("id", .int64), FieldSchema("name", .string, isOptional: true), FieldSchema("f", .float),
        FieldSchema("d", .double), FieldSchema("when", .date), FieldSchema("bytes", .data),
        FieldSchema("money", .decimal), FieldSchema("doc", .document, isOptional: true),
        FieldSchema("u", .uuid),
        FieldSchema("b", .bool), FieldSchema("small", .int8),
      ], key: ["id"])
  }

  static func row(_ changes: [Int: PersistentValue] = [:]) -> [PersistentValue] {
    var values: [PersistentValue] = [
      .integer(9_007_199_254_740_993), .text("é\0"), .double(Double(Float(0.1))), .double(0.1), .date(0),
      .bytes([0, 255]), .decimal(Decimal(string: "12345678901234567890.12345") ?? 0),
      .document("{\"a\":[1]}"),
      .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))), .bool(true), .integer(-128),
    ]
    for (position, value) in changes { values[position] = value }
    return values
  }

  private func roundTrip(_ values: [PersistentValue]) throws -> [PersistentValue] {
    let schema = try Self.schema.get()
    let row = RowBuffer(count: schema.fields.count)
    row.set(values)
    let text = try row.withRow { try RecordText.text(of: $0, in: schema) }
    try RecordText.fill(row, from: text, in: schema)
    return try row.withRow { try $0.values() }
  }

  @Test("V2 V5 a record's text reads back as the same values")
  func roundTrips() throws {
    let cases: [[Int: PersistentValue]] = [
      [:], [0: .integer(.min)], [0: .integer(.max)], [1: .null], [1: .text("")], [3: .double(.nan)],
      [3: .double(-.infinity)], [3: .double(5)], [3: .double(1e300)], [2: .double(.infinity)],
      [5: .bytes([])],
      [6: .decimal(.nan)], [7: .null], [7: .document("null")], [7: .document("{\"$json\":1}")],
      [7: .document("[]")], [7: .document("\"x\"")], [4: .date(.nan)], [4: .date(.infinity)],
      [4: .date(-0.25)],
    ]
    for changes in cases {
      let values = Self.row(changes)
      #expect(try roundTrip(values) == values, "\(changes)")
    }
  }

  @Test(
    "E5 text that is not a record is rejected with its position",
    arguments: [
      ("[]", "line 1, column 1"), ("{\n  \"id\": \"x\"\n}", "line 2, column 3"),
      ("{\n  \"id\": 1,\n", "line 3"),
      ("{ \"id\": 1, \"other\": 2 }", "“other”"), ("{ \"id\": 1 }", "missing"),
      ("{ \"id\": 1, \"small\": 128 }", "“small”"), ("{ \"id\": null }", "“id”"),
    ])
  func refusals(text: String, hint: String) throws {
    let schema = try Self.schema.get()
    let row = RowBuffer(count: schema.fields.count)
    let error = try #require(throws: PersistenceError.self) {
      try RecordText.fill(row, from: Array(text.utf8), in: schema)
    }
    #expect(error.code == .damaged)
    #expect(error.message.contains(hint), "\(error)")
  }

  @Test("E6 hostile keys have unique file names inside the folder")
  func fileNames() throws {
    let schema = try ModelSchema(name: "K", fields: [FieldSchema("id", .string)], key: ["id"])
    let keys = [
      "../../x", "a/b", "CON", "con", "", ".", "..", "a", "A", "%", "%41", "a+b", "é", "e\u{301}", "\0", " ",
      "~",
      String(repeating: "x", count: 300), String(repeating: "x", count: 301),
      String(repeating: "X", count: 1_000),
      ".json", "a.json", "nul", "COM1", "com1",
    ]
    var seen: Set<String> = []
    for key in keys {
      let name = FileName.file(for: RecordKey([.text(key)]))
      #expect(seen.insert(name.lowercased()).inserted, "\(key) \(name)")
      #expect(name.utf8.count <= 255)
      #expect(!name.hasPrefix(".") && !name.contains("/"))
      let back = try FileName.key(of: name, in: schema)
      #expect(back == nil || back == RecordKey([.text(key)]))
      #expect((back == nil) == name.contains("~"))
    }
    #expect(throws: PersistenceError.self) { try FileName.key(of: "a%zz.json", in: schema) }
  }

  @Test("E6 models that differ only by case have folder names that differ by more")
  func folders() {
    var folders: [String] = []
    for model in ["Movie", "movie", "MOVIE", "../x", "", "con", ".persistence", "sqlite_x", "a b"] {
      let folder = FileName.folder(for: model, besides: folders)
      #expect(!folders.map { $0.lowercased() }.contains(folder.lowercased()), "\(model)")
      #expect(FileName.isFolder(folder))
      folders.append(folder)
    }
    #expect(folders.first == "Movie")
  }

  @Test(
    "W1 E6 a model that takes the name of renamed ones has a folder of its own",
    arguments: ["movie", "Movie"])
  func renamedFolders(name: String) throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("json-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let context = try JSONDirectoryContext(path: path)
    func schema(_ name: String) throws -> ModelSchema {
      try ModelSchema(name: name, fields: [FieldSchema("id", .int64)], key: ["id"])
    }
    func save(_ id: Int64, in schema: ModelSchema) throws {
      try context.transaction { transaction in
        try transaction.define(schema)
        let row = RowBuffer(count: 1)
        row.set(.integer(id), at: 0)
        try row.withRow { try transaction.save($0, in: schema) }
      }
    }
    for number in 1...5 {
      let (old, new) = (try schema(name), try schema("former\(number)"))
      try save(1, in: old)
      let change = try SchemaChange(from: old, to: new, sources: [.field(0)])
      try context.transaction { try $0.evolve(change) }
    }
    try save(1, in: schema(name))
    try context.transaction { _ = try $0.deleteAll(in: schema(name)) }
    for number in 1...5 {
      #expect(try context.count(FetchRequest(schema("former\(number)"))) == 1)
    }
    #expect(try context.count(FetchRequest(schema(name))) == 0)
  }
}
