#if SQLite
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceTool
  import Testing

  @Suite("The files beside a SQLite store that commands read")
  struct ReadFilesTests {
    private let folder: TemporaryFolder
    private let tool = ToolHarness()
    private let url: String
    private let schema: ModelSchema

    /// A closed store with one record.
    init() throws {
      folder = try TemporaryFolder()
      url = "sqlite:\(folder("store"))"
      schema = try ModelSchema(
        name: "Movie", fields: [FieldSchema("id", .int64), FieldSchema("title", .string)], key: ["id"])
      let store = try open()
      try add(1, to: store)
      try store.close()
      try #require(folder.names == ["store"])
    }

    private func open() throws -> any StorageContext {
      try #require(
        try StorageEngine.open(url, engines: ToolEngines.ofFiles, monitoring: Monitoring()).asStorageContext)
    }

    private func add(_ id: Int64, to store: any StorageContext) throws {
      try store.transaction { transaction in
        try transaction.define(schema)
        let row = RowBuffer(count: 2)
        row.set([.integer(id), .text("Title \(id)")])
        try row.withRow { try transaction.insert($0, in: schema) }
      }
    }

    @Test("a command that reads leaves no log beside the store")
    func noLog() throws {
      let document = SchemaDocument(
        models: [.init(name: "Movie", fields: schema.fields.map { .init(schema: $0) }, key: ["id"])])
      let file = try folder.file("schema.json", document.text)
      for arguments in [
        ["schema", "check", file, url], ["inspect", url], ["verify", url], ["query", url, "Movie"],
      ] {
        let run = tool.run(arguments)
        #expect(run.code == 0, "\(run)")
        #expect(folder.names == ["schema.json", "store"], "\(arguments)")
      }
    }

    @Test("C2 a command that reads keeps the log of another context, empty or not")
    func keptLog() throws {
      let other = try open()
      #expect(try other.count(FetchRequest(schema)) == 1)
      #expect(tool("inspect", url).code == 0)
      #expect(folder.names.contains("store-wal"))
      try add(2, to: other)
      let run = tool("query", url, "Movie", "--format", "csv")
      #expect(run.code == 0 && run.output.contains("Title 2"), "\(run)")
      #expect(folder.names.contains("store-wal"))
      try add(3, to: other)
      #expect(try other.count(FetchRequest(schema)) == 3)
      try other.close()
      #expect(folder.names == ["store"])
    }
  }
#endif
