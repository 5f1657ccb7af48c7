import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceTool
import Testing

@Suite("backup, restore, and verify of one store")
struct BackupCommandTests {
  private let folder: TemporaryFolder
  private let tool = ToolHarness()

  init() throws { folder = try TemporaryFolder() }

  private func makeStore(
    _ scheme: String, options: String = "", indexes: [IndexSchema] = [],
    rows: [[String: PersistentValue]] = (1...3).map { ["title": .text("Title \($0)")] }
  ) throws -> String {
    let url = "\(scheme):\(folder("store"))\(options)"
    let store = try #require(
      try StorageEngine.open(url, engines: ToolEngines.ofFiles, monitoring: Monitoring()).asStorageContext)
    let movie = try Rows.movie.get()
    let schema = try ModelSchema(name: movie.name, fields: movie.fields, key: movie.key, indexes: indexes)
    try store.transaction { transaction in
      try transaction.define(schema)
      let row = RowBuffer(count: schema.fields.count)
      for (position, values) in rows.enumerated() {
        row.set(try Rows.row(Int64(position + 1), values))
        try row.withRow { try transaction.insert($0, in: schema) }
      }
    }
    try store.close()
    return url
  }

  @Test(
    "backup and restore copy a store, and refuse one with records unless told",
    arguments: ["sqlite", "lmdb", "json"])
  func backup(scheme: String) throws {
    let store = try makeStore(scheme)
    let backup = "\(scheme):\(folder("backup"))"
    let done = tool("backup", store, backup)
    #expect(
      done.code == 0 && done.output.contains("3 records of 1 model copied, verified by digest"), "\(done)")
    #expect(tool("verify", store, backup).code == 0)
    let refused = tool("restore", backup, store)
    #expect(refused.code == 4 && refused.messages.contains("destinationNotEmpty"), "\(refused)")
    #expect(tool("backup", store, backup).code == 4)
    #expect(tool("restore", backup, store, "--replace").code == 0)
    #expect(tool("restore", backup, "json:\(folder("other"))", "--format", "json").code == 0)
    #expect(tool("verify", "json:\(folder("other"))", store).code == 0)
    #expect(tool("restore", "\(scheme):\(folder("missing"))", store, "--replace").code == 4)
    #expect(tool("backup", store, store).code == 3)
    #expect(tool("verify", store, backup).code == 0)
    #expect(!folder.names.contains("missing"))
  }

  @Test("verify of an intact store of any engine reads every record", arguments: ["sqlite", "lmdb", "json"])
  func intact(scheme: String) throws {
    let run = tool("verify", try makeStore(scheme))
    #expect(run.code == 0 && run.output == "the store is intact; records: 3\n", "\(run)")
  }

  @Test("verify names damaged, edited and missing records of a JSON directory; --accept records the rest")
  func findings() throws {
    let store = try makeStore("json", options: "?checksums=true")
    func file(_ number: Int) -> URL { URL(fileURLWithPath: folder("store/Movie/\(number).json")) }
    let text = try String(contentsOf: file(1), encoding: .utf8)
    try Data(text.replacing("Title 1", with: "Edited").utf8).write(to: file(1))
    let edited = tool("verify", store)
    #expect(edited.code == 0 && edited.output.contains("edited: Movie/1.json: "), "\(edited)")
    try Data("{ broken".utf8).write(to: file(2))
    try FileManager.default.removeItem(at: file(3))
    let lost = tool("verify", store, "--limit", "2")
    #expect(lost.code == 1, "\(lost)")
    #expect(
      lost.output.contains("damaged: Movie/2.json: ") && lost.output.contains("line 1, column"), "\(lost)")
    #expect(lost.output.contains("… and 1 more"), "\(lost)")
    let json = tool("verify", store, "--format", "json")
    #expect(json.code == 1 && json.output.contains("\"missing\""), "\(json)")
    let accepted = tool("verify", store, "--accept")
    #expect(
      accepted.code == 1 && accepted.output.contains("recorded the checksums of 1 files"), "\(accepted)")
    try FileManager.default.removeItem(at: file(2))
    #expect(tool("verify", store).output == "the store is intact; records: 1\n")
  }

  /// Titles, and ratings with years, are unique; nil never collides.
  private func makeUniqueStore(_ scheme: String) throws -> String {
    try makeStore(
      scheme,
      indexes: [IndexSchema(["title"], isUnique: true), IndexSchema(["rating", "year"], isUnique: true)],
      rows: [
        ["title": .text("a"), "rating": .text("PG"), "year": .integer(1)],
        ["title": .text("b"), "rating": .text("PG"), "year": .integer(2)], ["rating": .text("PG")],
        ["rating": .text("PG")],
      ])
  }

  @Test("W4 verify of unique indexes accepts any nil", arguments: ["sqlite", "lmdb", "json"])
  func uniqueNil(scheme: String) throws {
    let run = tool("verify", try makeUniqueStore(scheme))
    #expect(run.code == 0 && run.output == "the store is intact; records: 4\n", "\(run)")
  }

  @Test("W4 verify names two records to which a person gave the same unique values")
  func sameUniqueValues() throws {
    let store = try makeUniqueStore("json")
    let file = URL(fileURLWithPath: folder("store/Movie/2.json"))
    let text = try String(contentsOf: file, encoding: .utf8)
    let edited = text.replacing(#""title": "b""#, with: #""title": "a""#)
      .replacing(#""year": 2"#, with: #""year": 1"#)
    try Data(edited.utf8).write(to: file)
    let run = tool("verify", store)
    #expect(run.code == 1, "\(run)")
    #expect(run.output.contains("damaged: Movie 2: has the same unique “title” as Movie 1\n"), "\(run)")
    #expect(
      run.output.contains("damaged: Movie 2: has the same unique “rating”, “year” as Movie 1\n"), "\(run)")
    #expect(run.output.hasSuffix("the store is damaged, or records are missing; records: 4\n"), "\(run)")
    let json = tool("verify", store, "--format", "json")
    #expect(json.code == 1 && json.output.contains("has the same unique “title” as Movie 1"), "\(json)")
    // A record that cannot be read hides the others from the index, but not from the findings.
    try Data("{ broken".utf8).write(to: URL(fileURLWithPath: folder("store/Movie/3.json")))
    let broken = tool("verify", store)
    #expect(broken.code == 1 && broken.output.contains("damaged: Movie/3.json: "), "\(broken)")
    #expect(broken.output.contains("damaged: Movie: cannot check its indexes: "), "\(broken)")
  }

  @Test("verify names a damaged page of an LMDB store that cannot be opened")
  func damagedPage() throws {
    let store = try makeStore("lmdb")
    let file = URL(fileURLWithPath: folder("store/data.mdb"))
    var data = try Data(contentsOf: file)
    let place = try #require(data.range(of: Data("Title 2".utf8), options: .backwards)).lowerBound
    // The number that the page has of itself.
    data[place / 4096 * 4096 + 1] ^= 0x40
    try data.write(to: file)
    let run = tool("verify", store)
    #expect(run.code == 1 && run.output.contains("damaged: "), "\(run)")
    #expect(run.output.contains("page \(place / 4096) of the tree records is marked as page"), "\(run)")
    #expect(tool("verify", store, "--format", "json").code == 1)
  }

  @Test("verify names an index of an LMDB store that differs from the records")
  func damagedIndex() throws {
    let store = try makeStore(
      "lmdb", indexes: [IndexSchema(["title"])],
      rows: ["Title 1", "Title 4", "Title 9"].map { ["title": .text($0)] })
    let file = URL(fileURLWithPath: folder("store/data.mdb"))
    let whole = try Data(contentsOf: file)
    var (start, outputs) = (whole.startIndex, [String]())
    // The text is in the record, in the index, and in pages of earlier states.
    while let place = whole[start...].firstRange(of: Data("Title 4".utf8)) {
      var data = whole
      data[place.upperBound - 1] = UInt8(ascii: "5")  // keeps the order of the keys
      try data.write(to: file)
      outputs.append(tool("verify", store).output)
      start = place.upperBound
    }
    #expect(
      outputs.contains(
        "damaged: Movie: the index on title differs from the records\nthe store is damaged, or records are missing; records: 3\n"
      ), "\(outputs)")
  }

  @Test("options that do not belong together are refused")
  func options() throws {
    let store = try makeStore("sqlite")
    #expect(tool("verify", store, "--one-way").code == 3)
    #expect(tool("verify", store, store, "--accept").code == 3)
    #expect(tool("verify", store, "--accept").code == 3)
    #expect(tool("backup", store).code == 3)
  }
}
