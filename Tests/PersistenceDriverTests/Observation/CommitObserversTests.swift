import PersistenceDriver
import Synchronization
import Testing
import PersistenceDriverSupport

@Suite("CommitObservers")
struct CommitObserversTests {
  private let notes: ModelSchema
  private let others: ModelSchema
  private let context = MemoryContext()

  init() throws {
    notes = try ModelSchema(name: "Note", fields: [FieldSchema("id", .int64)], key: ["id"])
    others = try ModelSchema(name: "Other", fields: [FieldSchema("id", .int64)], key: ["id"])
    let schemas = [notes, others]
    try context.transaction { transaction in
      for schema in schemas { try transaction.define(schema) }
    }
  }

  private func observer(
    of schema: ModelSchema, with observers: CommitObservers, keyLimit: Int = 10_000
  ) throws -> CommitObserver {
    let observer = try CommitObserver(FetchRequest(schema), in: context, keyLimit: keyLimit)
    try observers.add(observer)
    return observer
  }

  private static func insert(_ ids: Range<Int>, _ schema: ModelSchema, _ transaction: any StorageTransaction)
    throws
  {
    let row = RowBuffer(count: 1)
    for id in ids {
      row.set([.integer(Int64(id))])
      try row.withRow { try transaction.insert($0, in: schema) }
    }
  }

  @Test("incessant commits of other processes cause another read")
  func incessant() throws {
    // The first check precedes the snapshots; then another commit follows each of eight snapshots.
    let outside = ScriptedCommits([false] + (0..<8).flatMap { _ in [false, true] })
    let observers = CommitObservers(outside: outside)
    let first = try observer(of: notes, with: observers)
    #expect(try observers.look(first, at: context).changes.isUnknown)
    #expect(outside.isThrough)
    #expect(try observers.look(first, at: context).changes.isUnknown, "the snapshot may lack the last commit")
    #expect(try observers.look(first, at: context).changes.isEmpty)
  }

  @Test("a rollback beyond the undo limit still notifies every observer", arguments: [834, 900])
  func discardedUndoEntries(count: Int) throws {
    let (notes, observers) = (self.notes, context.observers)
    let many = try (0..<120).map { _ in try observer(of: notes, with: observers) }
    let other = try observer(of: others, with: observers)
    try context.transaction { transaction in
      try Self.insert(0..<count, notes, transaction)
      #expect(throws: Undone.self) {
        try transaction.nested {
          _ = try transaction.deleteAll(in: notes)
          throw Undone()
        }
      }
    }
    #expect(try context.count(FetchRequest(notes)) == count)
    let reported = try many.map { try observers.look($0, at: context).changes }
    #expect(reported.allSatisfy { $0.isUnknown || $0.entries.count == count })
    #expect(try observers.look(other, at: context).changes.isEmpty, "another model's observers get none")
  }

  @Test("a drop succeeds if the records cannot be counted, and its changes are unknown")
  func uncounted() throws {
    let notes = self.notes
    try context.transaction { try Self.insert(0..<3, notes, $0) }
    let observers = CommitObservers()
    let observer = try observer(of: notes, with: observers)
    try context.transaction { transaction in
      let observed = observers.begin(UncountedTransaction(wrapped: transaction))
      try observed.transaction.drop(notes)
      try observers.commit(observed) {}
    }
    #expect(try context.catalog().map(\.name) == ["Other"])
    #expect(try observers.look(observer, at: context).changes.isUnknown)
  }

  @Test("a failed commit may have succeeded: only observers of its models get unknown changes")
  func failedCommit() throws {
    let (notes, observers) = (self.notes, CommitObservers())
    let (concerned, other) = (
      try observer(of: notes, with: observers), try observer(of: others, with: observers)
    )
    #expect(throws: Undone.self) {
      try context.transaction { transaction in
        let observed = observers.begin(transaction)
        try Self.insert(0..<3, notes, observed.transaction)
        try observers.commit(observed) { throw Undone() }
      }
    }
    #expect(try observers.look(concerned, at: context).changes.isUnknown)
    #expect(try observers.look(other, at: context).changes.isEmpty)
  }

  @Test("S11 a catalog change gives its observers no changes, and one that rewrites records unknown ones")
  func schemaChanges() throws {
    let (notes, observers) = (self.notes, context.observers)
    try context.transaction { try Self.insert(0..<3, notes, $0) }
    let (concerned, other) = (
      try observer(of: notes, with: observers), try observer(of: others, with: observers)
    )
    let fitted = FittedContext(context, SchemaFits(location: ""))
    let named = try ModelSchema(
      name: "Note", fields: notes.fields + [FieldSchema("name", .string, isOptional: true)], key: ["id"])
    try context.transaction { transaction in
      try transaction.evolve(
        SchemaChange(from: notes, to: named, sources: [.field(0), .fill(.null)]))
    }
    let unmapped = #expect(throws: PersistenceError.self) { try observers.look(concerned, at: context) }
    #expect(unmapped?.code == .schemaMismatch)
    #expect(try observers.look(concerned, at: fitted).changes.isEmpty)
    try context.transaction { transaction in
      let stored = try #require(try transaction.schema(named: "Note"))
      let target = try ModelSchema(
        name: "Note", fields: stored.fields + [FieldSchema("size", .int64)], key: stored.key)
      try transaction.evolve(
        SchemaChange(from: stored, to: target, sources: [.field(0), .field(1), .computed]) {
          $1.set(.integer(1), at: 0)
        })
    }
    #expect(try observers.look(concerned, at: fitted).changes.isUnknown)
    #expect(try observers.look(concerned, at: fitted).changes.isEmpty)
    #expect(try observers.look(other, at: context).changes.isEmpty)
  }
}

private struct Undone: Error {}

/// Other processes with scripted commits.
private final class ScriptedCommits: OutsideCommits {
  private let answers: Mutex<[Bool]>

  init(_ answers: [Bool]) { self.answers = Mutex(answers) }

  var isThrough: Bool { answers.withLock(\.isEmpty) }

  func check() throws -> Bool { answers.withLock { $0.isEmpty ? false : $0.removeFirst() } }
  func reset() {}
}

/// A transaction whose records cannot be counted.
private final class UncountedTransaction: StorageTransactionWrapper {
  let wrapped: any StorageTransaction

  init(wrapped: any StorageTransaction) { self.wrapped = wrapped }

  func count(_ request: FetchRequest) throws -> Int {
    throw PersistenceError(.inputOutput, "the medium failed")
  }
}
