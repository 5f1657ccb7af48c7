#if Postgres
  import OurContexts
  import PersistenceDriver
  import PersistenceDriverSupport
  import Testing

  @testable import PersistencePostgres

  /// The opening of stores, which takes one round trip where a store exists.
  @Suite(.withServer) struct OpeningTests {
    /// A new connection, and the store that it reads.
    private func connect(_ scratch: Scratch, user: String = "postgres") throws -> PostgresConnection {
      let url = scratch.url.replacing("user=postgres", with: "user=\(user)")
      let address = try PostgresAddress(try StoreURL(url), isReadOnly: scratch.configuration.isReadOnly)
      return try PostgresConnection.connect(PostgresStore(address, scratch.configuration))
    }

    /// Makes a store with one note.
    private func save(in scratch: Scratch) throws {
      let context = try scratch.open()
      try context.save([Scratch.row(1, "one")])
      try context.close()
    }

    private func rowSecurity(_ connection: PostgresConnection) throws -> String? {
      let query = PostgresCommand("SELECT pg_catalog.current_setting('row_security')")
      return try connection.run([query], "read a setting").first?.text(0, 0)
    }

    @Test(
      "a server that only speaks PostgreSQL's protocol is recognised by its version, and PostgreSQL is not taken for one",
      arguments: [
        ("CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27)", "CockroachDB"),
        ("PostgreSQL 11.2-YB-2.18.0.0-b0 on x86_64-pc-linux-gnu, 64-bit", "-YB-"),
        ("PostgreSQL 8.0.2 on i686-pc-linux-gnu, Redshift 1.0.12103", "Redshift"),
        ("PostgreSQL 15.8 (Debian 15.8-0+deb12u1) on x86_64-pc-linux-gnu, 64-bit", nil),
      ])
    func otherServers(_ version: String, _ name: String?) {
      let found = PostgresOpening.otherServer(in: version)
      #expect(found?.name == name)
      #expect(found?.reason.isEmpty != true)
    }

    @Test(
      "R1 an existing store is opened in one round trip, which reads its catalog",
      arguments: [PostgresConfiguration.Pooler.session, .transaction])
    func existing(_ pooler: PostgresConfiguration.Pooler) throws {
      let scratch = try Scratch { $0.pooler = pooler }
      try scratch.open().close()
      let first = try connect(scratch)
      #expect(try PostgresOpening.openAtOnce(first, first.store) != nil)
      #expect(first.store.catalog?.layouts.isEmpty == true)
      try save(in: scratch)
      let second = try connect(scratch)
      #expect(try PostgresOpening.openAtOnce(second, second.store) != nil)
      #expect(second.store.catalog?.layouts.count == 1)
      #expect(try rowSecurity(second) == (pooler == .session ? "off" : "on"))
      #expect(second.serverRun != nil)
      #expect(try second.serverRun == PostgresConnection.open(second.store).serverRun)
    }

    @Test("E5 a missing store is looked for step by step, by a connection that is as before")
    func missing() throws {
      let connection = try connect(Scratch())
      #expect(try PostgresOpening.openAtOnce(connection, connection.store) == nil)
      #expect(!connection.isBroken && connection.store.catalog == nil)
      #expect(try rowSecurity(connection) == "on")
    }

    @Test("the tables of other programs are recognised after the search for a store has failed")
    func others() throws {
      let scratch = try ForeignScratch(["CREATE TABLE $.film (id int8 PRIMARY KEY)"])
      let connection = try connect(scratch.scratch)
      #expect(try PostgresOpening.openAtOnce(connection, connection.store) == nil)
      let context = try scratch.open()
      #expect(context.store.isForeign)
      #expect(try context.schema(named: "film") != nil)
      try context.close()
    }

    @Test("E5 a store of a newer format is refused, whatever its tables are")
    func newerFormat() throws {
      let scratch = try Scratch()
      try save(in: scratch)
      let name = scratch.schemaName
      for change in [
        "UPDATE \(name).persistence_state SET format = 2",
        "ALTER TABLE \(name).persistence_state DROP COLUMN version",
        "DROP TABLE \(name).persistence_catalog",
      ] {
        try scratch.run(change)
        let error = failure { _ = try scratch.open() }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("format 2") == true)
      }
    }

    @Test("C2 a model that another process defines or drops after the opening is noticed by the first read")
    func laterChanges() throws {
      let scratch = try Scratch()
      try save(in: scratch)
      let (first, second, writer) = (try scratch.open(), try scratch.open(), try scratch.open())
      let other = try ModelSchema(name: "Other", fields: [FieldSchema("id", .int64)], key: ["id"])
      try writer.transaction { try $0.define(other) }
      #expect(try first.schema(named: "Other") != nil)
      try writer.transaction { try $0.drop(Scratch.schema.get()) }
      #expect(try second.schema(named: "Note") == nil)
      for context in [first, second, writer] { try context.close() }
    }

    @Test(
      "R1 a user without the right to a function of the server opens a store; its first read asks for the rows only"
    )
    func fewRights() throws {
      let scratch = try Scratch { $0.isReadOnly = true }
      let (user, name) = (scratch.configuration.schema, scratch.schemaName)
      // The rights to a function belong to a database.
      try scratch.run("CREATE DATABASE \(name)")
      try scratch.run("CREATE ROLE \(name) LOGIN")
      defer {
        _ = try? scratch.run("DROP DATABASE \(name) WITH (FORCE)")
        _ = try? scratch.run("DROP ROLE \(name)")
      }
      let own = scratch.on(try PostgresCluster.url().replacing("/postgres?", with: "/\(user)?"))
      let creator = try own.open { $0.isReadOnly = false }
      try creator.save([Scratch.row(1, "one")])
      try creator.close()
      try own.run(
        "GRANT USAGE ON SCHEMA \(name) TO \(name)", "GRANT SELECT ON ALL TABLES IN SCHEMA \(name) TO \(name)")
      let url = own.url.replacing("user=postgres", with: "user=\(user)")
      for isAllowed in [true, false] {
        if !isAllowed { try own.run("REVOKE EXECUTE ON FUNCTION pg_catalog.pg_control_system() FROM PUBLIC") }
        let connection = try connect(own, user: user)
        #expect((try PostgresOpening.openAtOnce(connection, connection.store) != nil) == isAllowed)
        let context = try PostgresContext(url: url, configuration: own.configuration)
        if isAllowed { try own.run("REVOKE SELECT ON \(name).persistence_catalog FROM \(name)") }
        #expect(try context.texts() == ["one"])
        try context.close()
        try own.run("GRANT SELECT ON \(name).persistence_catalog TO \(name)")
      }
    }
  }
#endif
