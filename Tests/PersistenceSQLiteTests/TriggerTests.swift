import PersistenceDriver
import PersistenceSQLite
import TestSupport
import Testing
import PersistenceDriverSupport

@Suite("Foreign databases with triggers")
struct TriggerTests {
  private func observed(
    _ statements: [String], observing name: String,
    _ write: (SQLiteContext, any StorageTransaction) throws -> Void
  ) throws -> (before: Int, after: Int, changes: KeyChanges) {
    let scratch = try Scratch()
    try scratch.makeForeign("foreign.sqlite", statements)
    let context = try scratch.open("foreign.sqlite")
    let schema = try #require(try context.catalog().first { $0.name == name })
    let observers = context.observers
    let observer = try CommitObserver(FetchRequest(schema), in: context, keyLimit: 100)
    try observers.add(observer)
    let (first, _) = try observers.look(observer, at: context)
    try context.transaction { try write(context, $0) }
    let (second, changes) = try observers.look(observer, at: context)
    return (try first.count(FetchRequest(schema)), try second.count(FetchRequest(schema)), changes)
  }

  private func insert(_ values: [PersistentValue], _ name: String)
    -> (SQLiteContext, any StorageTransaction) throws -> Void
  {
    { context, transaction in
      let schema = try #require(try context.catalog().first { $0.name == name })
      let row = RowBuffer(count: values.count)
      row.set(values)
      try row.withRow { try transaction.insert($0, in: schema) }
    }
  }

  private static let tables = [
    "CREATE TABLE A (id INTEGER PRIMARY KEY, n INTEGER)",
    "CREATE TABLE B (id INTEGER PRIMARY KEY, n INTEGER)",
  ]

  @Test("observers get unknown changes if a trigger may have written")
  func triggers() throws {
    let trigger = "CREATE TRIGGER t AFTER INSERT ON A BEGIN INSERT INTO B VALUES (new.id, new.n); END"
    let found = try observed(
      Self.tables + [trigger], observing: "B", insert([.integer(1), .integer(2)], "A"))
    #expect(found.before == 0 && found.after == 1)
    #expect(found.changes.isUnknown)
    let nothing = try observed(Self.tables + [trigger], observing: "B") { _, _ in }
    #expect(nothing.changes.isEmpty, "a transaction without writes reports no changes")
  }

  /// A table with three records and a trigger.
  private func triggered(_ trigger: String, _ scratch: Scratch) throws -> (
    context: SQLiteContext, schema: ModelSchema
  ) {
    try scratch.makeForeign(
      "foreign.sqlite",
      [
        "CREATE TABLE A (id INTEGER PRIMARY KEY, n INTEGER)", "INSERT INTO A VALUES (1, 1), (2, 2), (3, 3)",
        "CREATE TABLE log (n INTEGER)",
        "CREATE TRIGGER t \(trigger); END",
      ])
    let context = try scratch.open("foreign.sqlite")
    return (context, try #require(try context.catalog().first { $0.name == "A" }))
  }

  private static let rows = (1...3).map { [PersistentValue.integer($0), .integer($0)] }

  @Test("W7 a write that a trigger refuses leaves nothing, although the transaction commits")
  func refusals() throws {
    let all = { (schema: ModelSchema) in try FetchRequest(schema) }
    let set = { (schema: ModelSchema) in
      try UpdateRequest(all(schema), set: [FieldAssignment("n", .integer(9))])
    }
    let writes: [(trigger: String, write: (any StorageTransaction, ModelSchema) throws -> Void)] = [
      (
        "AFTER INSERT ON A BEGIN SELECT RAISE(FAIL, 'no')",
        { try $0.insert([.integer(9), .integer(9)], in: $1) }
      ),
      (
        "AFTER INSERT ON A BEGIN SELECT RAISE(FAIL, 'no')",
        { try $0.save([.integer(9), .integer(9)], in: $1) }
      ),
      (
        "AFTER UPDATE ON A WHEN new.id = 3 BEGIN SELECT RAISE(FAIL, 'no')",
        { _ = try $0.update(set($1)) }
      ),
      (
        "BEFORE DELETE ON A WHEN old.id = 3 BEGIN SELECT RAISE(FAIL, 'no')",
        { _ = try $0.delete(all($1)) }
      ),
      ("BEFORE DELETE ON A WHEN old.id = 3 BEGIN SELECT RAISE(FAIL, 'no')", { _ = try $0.deleteAll(in: $1) }),
    ]
    for (trigger, write) in writes {
      let scratch = try Scratch()
      let (context, schema) = try triggered(trigger, scratch)
      try context.transaction { transaction in
        #expect(code { try write(transaction, schema) } == .invalidRequest, "\(trigger)")
      }
      #expect(try context.values(FetchRequest(schema)) == Self.rows, "\(trigger)")
      try context.close()
    }
  }

  @Test("W1 a write that a trigger ignores is an error, and not a success or an absent record")
  func ignoredWrites() throws {
    let writes: [(event: String, write: (any StorageTransaction, ModelSchema) throws -> Void)] = [
      ("INSERT", { try $0.insert([.integer(9), .integer(9)], in: $1) }),
      ("INSERT", { try $0.save([.integer(9), .integer(9)], in: $1) }),
      ("UPDATE", { try $0.update([.integer(1), .integer(9)], in: $1) }),
      ("UPDATE", { try $0.save([.integer(1), .integer(9)], in: $1) }),
    ]
    for (event, write) in writes {
      let scratch = try Scratch()
      let (context, schema) = try triggered(
        "BEFORE \(event) ON A BEGIN INSERT INTO log VALUES (1); SELECT RAISE(IGNORE)", scratch)
      try context.transaction { transaction in
        let error = #expect(throws: PersistenceError.self) { try write(transaction, schema) }
        #expect(error?.code == .invalidRequest && error?.message.contains("trigger") == true, "\(event)")
      }
      #expect(try context.rows("SELECT * FROM log").isEmpty)
      #expect(try context.values(FetchRequest(schema)) == Self.rows)
      try context.transaction { transaction in
        let wasThere = try transaction.delete(RecordKey([.integer(7)]), in: schema)
        #expect(!wasThere)
      }
      try context.close()
    }
  }

  @Test("W4 rejected records of a table with a trigger read the catalog no second time")
  func rejections() throws {
    struct Abort: Error {}
    let scratch = try Scratch()
    let (context, schema) = try triggered("AFTER INSERT ON A BEGIN SELECT 1", scratch)
    func reject(_ transaction: any StorageTransaction) {
      #expect(code { try transaction.insert([.integer(1), .integer(9)], in: schema) } == .duplicateKey)
    }
    try context.transaction { transaction in
      reject(transaction)
      let prepared = context.counters.prepares
      for _ in 0..<5 { reject(transaction) }
      #expect(context.counters.prepares == prepared)
      // A nested transaction that changes the catalog and throws leaves the catalog of the state before.
      let new = try ModelSchema(name: "New", fields: [FieldSchema("id", .int64)], key: ["id"])
      #expect(throws: Abort.self) {
        try transaction.nested {
          try transaction.define(new)
          throw Abort()
        }
      }
      let isKnown = try transaction.schema(named: "New") != nil
      #expect(!isKnown)
      try transaction.define(new)
      try transaction.insert([.integer(7)], in: new)
    }
    #expect(try context.values(FetchRequest(schema)) == Self.rows)
    #expect(try context.rows("SELECT id FROM New") == [[.integer(7)]])
    try context.close()
  }

  @Test("W1 a trigger may delete in its own way: the record stays, and the call tells that it is not deleted")
  func softDeletes() throws {
    let scratch = try Scratch()
    let (context, schema) = try triggered(
      "BEFORE DELETE ON A BEGIN UPDATE A SET n = 0 WHERE id = old.id; SELECT RAISE(IGNORE)", scratch)
    try context.transaction { transaction in
      let isDeleted = try transaction.delete(RecordKey([.integer(1)]), in: schema)
      #expect(!isDeleted)
    }
    #expect(try context.values(of: .integer(1), in: schema) == [.integer(1), .integer(0)])
    try context.close()
  }

  @Test("R5 an interruption stops no write in a closure that receives rows", arguments: [true, false])
  func interruptedWrites(hasTrigger: Bool) throws {
    let scratch = try Scratch()
    let (context, schema) = try triggered("AFTER UPDATE ON A BEGIN SELECT 1", scratch)
    if !hasTrigger { try context.execute("DROP TRIGGER t") }
    let more = (4...20_000).map { [PersistentValue.integer($0), .integer($0)] }
    try context.fill(schema, more)
    let update = try UpdateRequest(FetchRequest(schema), set: [FieldAssignment("n", .integer(0))])
    try context.transaction { transaction in
      let interruption = ReadInterruption()
      let error = #expect(throws: PersistenceError.self) {
        try interruption.run {
          var isFirst = true
          _ = try transaction.fetch(FetchRequest(schema)).read(from: 0, limit: .max) { _ in
            guard isFirst else { return }
            isFirst = false
            interruption.request(PersistenceError(.cancelled, "stop"))
            _ = try transaction.update(update)
          }
        }
      }
      #expect(error?.code == .cancelled)
    }
    #expect(try context.rows("SELECT count(*) FROM A WHERE n = 0") == [[.integer(20_000)]])
    try context.close()
  }

  @Test("observers get the changed keys if the file has no triggers")
  func plain() throws {
    let found = try observed(
      Self.tables + ["CREATE TABLE C (id INTEGER PRIMARY KEY ON CONFLICT REPLACE)"], observing: "A",
      insert([.integer(1), .integer(2)], "A"))
    #expect(found.changes.entries.keys.map(\.self) == [RecordKey([.integer(1)])])
  }
}
