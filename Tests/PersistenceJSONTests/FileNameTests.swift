import Foundation
import PersistenceDriver
import Testing

@testable import PersistenceJSON

/// Names of files for any key and any model (contract E6).
struct FileNameTests {
  private let text: ModelSchema
  private let pair: ModelSchema

  init() throws {
    text = try ModelSchema(name: "T", fields: [FieldSchema("id", .string)], key: ["id"])
    pair = try ModelSchema(
      name: "P", fields: [FieldSchema("a", .string), FieldSchema("b", .string)], key: ["a", "b"])
  }

  static let hostile = [
    "", " ", ".", "..", "../../x", "a/b", "a\\b", "/etc/passwd", "CON", "con", "nul", "com1", "lpt9",
    "con.txt", ".hidden",
    "a", "A", "é", "e\u{301}", "%", "%41", "%%", "+", "a+b", "~", "a~", "a\u{0}b", "\u{0}", "\n", "😀",
    "sqlite_x", "x.json",
    "-", "_", "0", "-0", "İ", "ß", "ẞ", ":", "*", "?", "\"", "<", ">", "|", "trailing ", "trailing.",
    "\u{FFFF}", "\u{10FFFF}",
    ".persistence", "catalog", String(repeating: "x", count: 300), String(repeating: "x", count: 301),
    String(repeating: "X", count: 300), String(repeating: "é", count: 300),
    String(repeating: "x", count: 299) + "y", String(repeating: "x", count: 200),
    String(repeating: "x", count: 201),
  ]

  @Test("E6 file names are unique, stay in their folder, and differ by more than case")
  func hostileKeys() throws {
    var seen: [String: String] = [:]
    for key in Self.hostile {
      let name = FileName.file(for: RecordKey([.text(key)]))
      let other = seen.updateValue(key, forKey: name.lowercased())
      #expect(other == nil, "“\(key)” and “\(other ?? "")” are both \(name)")
      #expect(name == name.lowercased())
      #expect(name.utf8.count <= 210)
      #expect(name.hasSuffix(".json"))
      #expect(!name.hasPrefix("."))
      let stem = name.dropLast(5)
      #expect(!["con", "nul", "com1", "lpt9"].contains(String(stem)))
      #expect(
        stem.utf8.allSatisfy {
          (97...122).contains($0) || (48...57).contains($0) || "_-%~+".utf8.contains($0)
        })
    }
  }

  @Test("E6 a name that is not shortened decodes to its key")
  func keysOfNames() throws {
    for key in Self.hostile {
      let name = FileName.file(for: RecordKey([.text(key)]))
      let back = try FileName.key(of: name, in: text)
      if name.contains("~") {
        #expect(back == nil)
      } else {
        #expect(back == RecordKey([.text(key)]))
      }
    }
  }

  @Test("E6 parts of composite keys stay apart")
  func compositeKeys() throws {
    let parts = ["", "a", "b", "+", "%", "a+", "+b", "a+b", "con", "."]
    var seen: Set<String> = []
    for first in parts {
      for second in parts {
        let key = RecordKey([.text(first), .text(second)])
        let name = FileName.file(for: key)
        #expect(seen.insert(name).inserted, "\(name)")
        #expect(try FileName.key(of: name, in: pair) == key)
      }
    }
  }

  @Test("E6 integers and UUIDs have readable names")
  func otherKinds() throws {
    #expect(FileName.file(for: RecordKey([.integer(42)])) == "42.json")
    #expect(FileName.file(for: RecordKey([.integer(.min)])) == "-9223372036854775808.json")
    let uuid = try #require(UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF"))
    #expect(FileName.file(for: RecordKey([.uuid(uuid)])) == "6f9619ff-8b86-d011-b42d-00c04fc964ff.json")
    #expect(FileName.file(for: RecordKey([.text("tt0133093")])) == "tt0133093.json")
  }

  @Test("E6 hostile keys and model names round trip through a store")
  func throughAStore() throws {
    let place = try TemporaryStore()
    let context = try place.open()
    let names = [
      "Movie", "movie", "../../x", "a/b", "CON", "", ".persistence", String(repeating: "m", count: 300), "é",
    ]
    for name in names {
      let schema = try ModelSchema(name: name, fields: [FieldSchema("id", .string)], key: ["id"])
      try context.transaction { transaction in
        try transaction.define(schema)
        for key in Self.hostile { try transaction.insert([.text(key)], in: schema) }
      }
    }
    try context.close()
    let again = try place.open()
    #expect(try again.catalog().map(\.name) == names.sorted { StoredName($0) < StoredName($1) })
    let expected = Self.hostile.map { [PersistentValue.text($0)] }.sorted { $0[0] < $1[0] }
    for schema in try again.catalog() {
      #expect(try again.rows(of: schema) == expected)
      for key in Self.hostile { #expect(try again.row(RecordKey([.text(key)]), in: schema) == [.text(key)]) }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path + "/..") == ["store"])
    try again.transaction { transaction in
      let count = try transaction.deleteAll(in: again.catalog()[0])
      #expect(count == Self.hostile.count)
    }
    #expect(try again.rows(of: again.catalog()[0]) == [])
    #expect(try again.rows(of: again.catalog()[1]) == expected)
  }

  @Test("a name whose last character swallows the dot of the suffix is not that of another key (E6)")
  func joiningCharacter() throws {
    let schema = try ModelSchema(name: "Item", fields: [FieldSchema("id", .string)], key: ["id"])
    let file = "a\u{6DD}.json"
    #expect(FileName.plainKey(of: file, in: schema) == nil)
    #expect(try FileName.key(of: file, in: schema) == RecordKey([.text("a\u{6DD}")]))
  }
}
