#if Postgres
  import Foundation
  import OurContexts
  import PersistenceDriver
  import PersistenceDriverSupport
  import Testing

  @testable import PersistencePostgres

  /// A new store on the tests' shared server or another one, and sessions beside it.
  struct Scratch {
    let configuration: PostgresConfiguration
    let url: String

    /// Names a store, which the first opening creates.
    init(on server: String? = nil, _ change: (inout PostgresConfiguration) -> Void = { _ in }) throws {
      var configuration = PostgresConfiguration(
        schema: "test_" + UUID().uuidString.lowercased(), busyTimeout: .seconds(20))
      change(&configuration)
      self.configuration = configuration
      // The name tells the connections of one store from those of others.
      url = try (server ?? PostgresCluster.url()) + "&application_name=\(configuration.schema)"
    }

    /// The same store by another URL of its server.
    private init(_ scratch: Scratch, on server: String) {
      configuration = scratch.configuration
      url = server + "&application_name=\(configuration.schema)"
    }

    func on(_ server: String) -> Scratch { Scratch(self, on: server) }

    func open(_ change: (inout PostgresConfiguration) -> Void = { _ in }) throws -> PostgresContext {
      var configuration = configuration
      change(&configuration)
      return try PostgresContext(url: url, configuration: configuration)
    }

    /// Runs statements on a connection of their own.
    @discardableResult
    func run(_ statements: String...) throws -> [PostgresResult] {
      let store = PostgresStore(
        try PostgresAddress(try StoreURL(url), isReadOnly: false), configuration)
      return try PostgresConnection.open(store).run(
        statements.map { PostgresCommand($0) }, "run a test's statement")
    }

    var schemaName: String { "\"\(configuration.schema)\"" }

    /// Ends the server's processes of all connections to the store, and waits for their ends.
    func endConnections() throws {
      try run(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
          + "WHERE pid <> pg_backend_pid() AND application_name = '\(configuration.schema)'")
    }

    static let schema = Result {
      try ModelSchema(
        name: "Note",
        fields: [
          FieldSchema("id", .int64), FieldSchema("text", .string),
          FieldSchema("tag", .string, isOptional: true),
          FieldSchema("blob", .data, isOptional: true),
        ], key: ["id"],
        indexes: [
          IndexSchema(["tag"], isUnique: true), IndexSchema(["text"]), IndexSchema(["blob", "text"]),
        ])
    }

    static func row(_ id: Int64, _ text: String, tag: String? = nil, blob: [UInt8]? = nil)
      -> [PersistentValue]
    {
      [.integer(id), .text(text), tag.map { .text($0) } ?? .null, blob.map { .bytes($0) } ?? .null]
    }
  }

  extension StorageContext {
    /// Saves notes in one transaction.
    func save(_ notes: [[PersistentValue]]) throws {
      let schema = try Scratch.schema.get()
      try transaction { transaction in
        try transaction.define(schema)
        for note in notes { try transaction.save(note) }
      }
    }

    func texts(_ request: FetchRequest? = nil) throws -> [String] {
      var texts: [String] = []
      let request = try request ?? FetchRequest(Scratch.schema.get())
      _ = try fetch(request).read(from: 0, limit: .max) { row in
        if case .text(let text) = try row.value(at: 1) { texts.append(text) }
      }
      return texts
    }
  }

  extension StorageTransaction {
    func save(_ note: [PersistentValue]) throws {
      let row = RowBuffer(count: note.count)
      row.set(note)
      try row.withRow { try save($0, in: Scratch.schema.get()) }
    }
  }

  extension Trait where Self == ConditionTrait {
    /// Runs a test only where a server is installed; in CI always.
    static var withServer: Self {
      .enabled(if: PostgresCluster.obstacle == nil || Environment["CI"] != nil, "PostgreSQL is not installed")
    }

    /// Runs a test that starts servers itself, also where another server is given.
    static var withPrograms: Self {
      .enabled(if: PostgresServer.programs != nil || Environment["CI"] != nil, "PostgreSQL is not installed")
    }
  }
#endif
