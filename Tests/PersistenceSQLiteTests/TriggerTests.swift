import PersistenceDriver
import PersistenceSQLite
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

  @Test("observers get the changed keys if the file has no triggers")
  func plain() throws {
    let found = try observed(
      Self.tables + ["CREATE TABLE C (id INTEGER PRIMARY KEY ON CONFLICT REPLACE)"], observing: "A",
      insert([.integer(1), .integer(2)], "A"))
    #expect(found.changes.entries.keys.map(\.self) == [RecordKey([.integer(1)])])
  }
}
