import PersistenceDriver
import PersistenceSQLite
import Testing
import PersistenceDriverSupport

@Suite("Files of others whose tables write by themselves")
struct TriggerTests {
  private func told(
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

  @Test("what a trigger wrote is told as unknown")
  func triggers() throws {
    let trigger = "CREATE TRIGGER t AFTER INSERT ON A BEGIN INSERT INTO B VALUES (new.id, new.n); END"
    let found = try told(
      Self.tables + [trigger], observing: "B", insert([.integer(1), .integer(2)], "A"))
    #expect(found.before == 0 && found.after == 1)
    #expect(found.changes.isUnknown)
    let nothing = try told(Self.tables + [trigger], observing: "B") { _, _ in }
    #expect(nothing.changes.isEmpty, "a transaction that writes nothing sets nothing off")
  }

  @Test("tables that do nothing by themselves are told by keys")
  func plain() throws {
    let found = try told(
      Self.tables + ["CREATE TABLE C (id INTEGER PRIMARY KEY ON CONFLICT REPLACE)"], observing: "A",
      insert([.integer(1), .integer(2)], "A"))
    #expect(found.changes.entries.keys.map(\.self) == [RecordKey([.integer(1)])])
  }
}
