#if Postgres
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import Testing

  @testable import PersistencePostgres

  /// A schema that another program made.
  struct ForeignScratch {
    let scratch: Scratch

    /// Makes the schema with SQL, in which `$` stands for the schema's name.
    init(_ statements: [String]) throws {
      scratch = try Scratch()
      try run(["CREATE SCHEMA $"] + statements)
    }

    init(of scratch: Scratch) { self.scratch = scratch }

    /// Runs statements as the other program.
    @discardableResult
    func run(_ statements: [String]) throws -> [PostgresResult] {
      let store = PostgresStore(
        try PostgresAddress(try StoreURL(scratch.url), isReadOnly: false), scratch.configuration)
      return try PostgresConnection.open(store).run(
        statements.map { PostgresCommand($0.replacing("$", with: scratch.schemaName)) },
        "run a statement of another program")
    }

    /// The first text of a query's rows.
    func texts(_ query: String) throws -> [String] {
      let result = try #require(try run([query]).last)
      return (0..<result.count).map { result.text($0, 0) ?? "NULL" }
    }

    func open(_ change: (inout PostgresConfiguration) -> Void = { _ in }) throws -> PostgresContext {
      try scratch.open(change)
    }

    /// The tables, indexes, views and sequences of the schema.
    func relations() throws -> [String] {
      try texts(
        "SELECT relname::text FROM pg_class WHERE relnamespace = '$'::regnamespace ORDER BY relname")
    }

    /// Tables as other programs have them: serial, identity and composite keys, foreign keys, checks, defaults, indexes of
    /// every sort, generated columns, partitions, a view, and names that need quotes.
    static let library = [
      "CREATE TYPE $.mood AS ENUM ('sad', 'ok', 'happy')",
      "CREATE DOMAIN $.email AS varchar(40) CHECK (VALUE LIKE '%@%')",
      """
      CREATE TABLE $."Studio" (id serial PRIMARY KEY, name text COLLATE "und-x-icu" NOT NULL UNIQUE,
        "select" int, "Mixed Case" varchar(5) DEFAULT 'x')
      """,
      """
      CREATE TABLE $.film (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        studio_id int REFERENCES $."Studio" ON DELETE CASCADE, title text COLLATE "C" NOT NULL, mood $.mood,
        mail $.email, price numeric(6,2) CONSTRAINT positive CHECK (price > 0), day date, tags text[],
        slug text GENERATED ALWAYS AS (lower(title)) STORED)
      """,
      "CREATE UNIQUE INDEX film_title_day ON $.film (title, day)",
      "CREATE INDEX film_price ON $.film (price) WHERE mood = 'ok'",
      "CREATE INDEX film_lower ON $.film (lower(title))",
      """
      CREATE TABLE $.credit (film_id bigint REFERENCES $.film, person text, role text,
        PRIMARY KEY (film_id, person))
      """,
      "CREATE TABLE $.event (id int, region text, note text, PRIMARY KEY (id, region)) PARTITION BY LIST (region)",
      "CREATE TABLE $.event_eu PARTITION OF $.event FOR VALUES IN ('eu')",
      "CREATE TABLE $.event_us PARTITION OF $.event FOR VALUES IN ('us')",
      "CREATE TABLE $.loose (n int)",
      "CREATE VIEW $.cheap AS SELECT id, title, price FROM $.film WHERE price < 10",
      "INSERT INTO $.\"Studio\" (name) VALUES ('Ärger'), ('Zebra'), ('apple')",
      """
      INSERT INTO $.film (studio_id, title, mood, mail, price, day) VALUES
        (1, 'One', 'happy', 'a@b', 1.50, '2020-01-01'), (2, 'Two', 'sad', NULL, 20, NULL),
        (NULL, 'two', NULL, NULL, NULL, '1999-12-31')
      """,
      "INSERT INTO $.credit VALUES (1, 'Ann', 'actor'), (1, 'Bob', NULL)",
      "INSERT INTO $.event VALUES (1, 'eu', 'a'), (1, 'us', 'b'), (2, 'eu', NULL)",
    ]
  }

  extension StorageReader {
    /// The schema of a model, which must be in the store.
    func model(_ name: String) throws -> ModelSchema { try #require(try schema(named: name)) }

    /// The values of a request's rows.
    func values(_ request: FetchRequest) throws -> [[PersistentValue]] {
      var rows: [[PersistentValue]] = []
      _ = try fetch(request).read(from: 0, limit: .max) { rows.append(try $0.values()) }
      return rows
    }

    /// The values of one field of a request's rows.
    func column(_ field: String, _ request: FetchRequest) throws -> [PersistentValue] {
      let position = try #require(request.schema.position(of: field))
      return try values(request).map { $0[position] }
    }

    /// The values of the record with a key; nil if there is none.
    func record(_ key: [PersistentValue], in schema: ModelSchema) throws -> [PersistentValue]? {
      var values: [PersistentValue]?
      _ = try find(RecordKey(key), in: schema) { values = try $0.values() }
      return values
    }
  }

  extension StorageTransaction {
    func insert(_ values: [PersistentValue], in schema: ModelSchema) throws {
      try withRow(values, schema) { try insert($0, in: schema) }
    }

    func update(_ values: [PersistentValue], in schema: ModelSchema) throws {
      try withRow(values, schema) { try update($0, in: schema) }
    }

    func save(_ values: [PersistentValue], in schema: ModelSchema) throws {
      try withRow(values, schema) { try save($0, in: schema) }
    }

    private func withRow(
      _ values: [PersistentValue], _ schema: ModelSchema, _ body: (borrowing Row) throws -> Void
    ) throws {
      let row = RowBuffer(count: schema.fields.count)
      row.set(values)
      try row.withRow(body)
    }
  }

  /// The error that a closure throws; nil if it throws none.
  func failure(_ body: () throws -> Void) -> PersistenceError? {
    do {
      try body()
      return nil
    } catch {
      return error as? PersistenceError
    }
  }
#endif
