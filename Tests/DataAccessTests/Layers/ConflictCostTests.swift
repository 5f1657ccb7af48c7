@testable import DataAccess
import DataAccessTesting
import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import Synchronization
import Testing

/// The work of the local store for conflicts of waiting entries.
@Suite("Cost of conflicts")
struct ConflictCostTests {
  /// What a store is asked for.
  struct Work {
    var requests = 0
    var rows = 0
    /// One request of each form.
    var forms: [String: FetchRequest] = [:]
  }

  /// A context that counts the requests of transactions and reads, and the rows that they return.
  private final class CountingContext: StorageContextWrapper {
    let wrapped: any StorageContext
    let work = Mutex(Work())

    init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

    func wrap(_ transaction: any StorageTransaction) -> any StorageTransaction {
      CountingTransaction(transaction, self)
    }

    func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool
    {
      add { ($0.requests, $0.rows) = ($0.requests + 1, $0.rows + 1) }
      return try wrapped.find(key, in: schema, body)
    }

    func count(_ request: FetchRequest) throws -> Int {
      note(request)
      return try wrapped.count(request)
    }

    func wrap(_ results: any StorageResults, of request: FetchRequest) -> any StorageResults {
      CountingResults(results, self)
    }

    func fetch(_ request: FetchRequest) throws -> any StorageResults {
      note(request)
      return wrap(try wrapped.fetch(request), of: request)
    }

    func add(_ change: (inout Work) -> Void) { work.withLock { change(&$0) } }

    func note(_ request: FetchRequest) {
      add { work in
        work.requests += 1
        work.forms[request.shape] = request
      }
    }
  }

  private final class CountingTransaction: StorageTransactionWrapper {
    let wrapped: any StorageTransaction
    private let context: CountingContext

    init(_ wrapped: any StorageTransaction, _ context: CountingContext) {
      (self.wrapped, self.context) = (wrapped, context)
    }

    func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool
    {
      context.add { ($0.requests, $0.rows) = ($0.requests + 1, $0.rows + 1) }
      return try wrapped.find(key, in: schema, body)
    }

    func count(_ request: FetchRequest) throws -> Int {
      context.note(request)
      return try wrapped.count(request)
    }

    func fetch(_ request: FetchRequest) throws -> any StorageResults {
      context.note(request)
      return CountingResults(try wrapped.fetch(request), context)
    }

    func delete(_ request: FetchRequest) throws -> Int {
      context.note(request)
      let count = try wrapped.delete(request)
      context.add { $0.rows += count }
      return count
    }
  }

  private final class CountingResults: StorageResultsWrapper {
    let wrapped: any StorageResults
    private let context: CountingContext

    init(_ wrapped: any StorageResults, _ context: CountingContext) {
      (self.wrapped, self.context) = (wrapped, context)
    }

    func read(from offset: Int, limit: Int, _ body: (borrowing Row) throws -> Void) throws -> Int {
      try wrapped.read(from: offset, limit: limit) { row in
        context.add { $0.rows += 1 }
        try body(row)
      }
    }
  }

  /// The work for the first entries, which conflict, while others wait behind them.
  private func work(
    _ conflicts: Int, of count: Int, _ policy: ConflictPolicy<Note>, in repository: Repository
  ) async throws -> Work {
    let context = try #require(repository.context as? CountingContext)
    let theirs = (0..<conflicts).map { Note($0, "theirs") }
    let remote = try BatchRecorder(theirs) { _, _ in .failure(LayerTestBed.gone) }
    let bed = try JoinedBatchTests.TestBed(in: repository, remote: remote) { $0.conflicts = policy }
    try await bed.source.insert(Note(0, "mine"))
    try await bed.outbox.writes.layer.use { journal in
      for id in 1..<count {
        let note = Note(id, "mine")
        try journal.repository.insert(note)
        var entry = OutboxRecord(
          model: journal.model, number: try journal.advance(by: UUID()), batch: UUID(),
          changes: try LayerCoding.data([OutboxChange(ObjectChange.insert(note))]), created: Date(),
          schemaName: try LayerSchemas.name(of: Note.schema.model))
        entry.isUnsent = true
        try journal.repository.insert(entry)
        let part = try HashedName.of(note.recordKey)
        try journal.repository.insert(
          WaitingKeyRecord(model: journal.model, part: part, number: entry.number))
      }
    }
    await bed.clock.sleepers(1)
    context.work.withLock { $0 = Work() }
    // The entries behind the conflicts wait.
    remote.begin { batch, _ in
      !batch.changes.isEmpty && batch.changes.allSatisfy { $0.object.id >= conflicts }
        ? .failure(LayerTestBed.gone) : .genuine
    }
    try? await bed.outbox.send()
    let work = context.work.withLock { $0 }
    #expect(try await bed.outbox.waiting().first?.changes?.first?.object.id == conflicts)
    return work
  }

  @Test(
    "the work for a conflict is the same with 100 waiting entries and with many more, with every policy",
    arguments: ["aside", "remote", "local", "merge"])
  func conflicts(name: String) async throws {
    let policy: ConflictPolicy<Note> =
      switch name {
      case "remote": .remoteWins
      case "local": .localWins
      case "merge": .merge { .save(Note($0.change.object.id, "merged")) }
      default: .setAside
      }
    var found: [(requests: Int, rows: Int)] = []
    var forms: [String: FetchRequest] = [:]
    for count in [100, Environment.isSoak || name == "merge" ? 1600 : 400] {
      // The first conflict also separates the first joint batch, whose size is limited.
      let few = try await work(3, of: count, policy, in: Repository(CountingContext(MemoryContext())))
      let many = try await work(8, of: count, policy, in: Repository(CountingContext(MemoryContext())))
      found.append((many.requests - few.requests, many.rows - few.rows))
      forms.merge(many.forms) { first, _ in first }
    }
    #expect(found[0].requests > 10 && found[0].rows > 10)
    #expect(found[1] == found[0])
    try requireIndexes(for: forms.values.filter { $0.schema.name.hasPrefix("persistence.outbox") })
  }

  /// Checks that an engine with indexes serves requests without a scan of 1,600 entries.
  private func requireIndexes(for requests: [FetchRequest]) throws {
    let context = try #require(ContextUnderTest.ours.first { $0.name.hasPrefix("lmdb") })
    let repository = try context.makeStore().open()
    let model = try Note.schema.model.name
    try repository.transaction { inside in
      for number in 0..<1600 {
        try inside.insert(
          OutboxRecord(
            model: model, number: number, batch: UUID(), changes: Data(), created: Date(), schemaName: nil))
        try inside.insert(WaitingKeyRecord(model: model, part: "\(number)", number: number))
      }
    }
    let store = try #require(repository.context.asStorageContext)
    for request in requests {
      #expect(try store.plan(for: request).access != .scan, "\(request)")
    }
    #expect(requests.count > 3)
    try repository.close()
  }
}
