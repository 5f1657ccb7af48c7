import Foundation
import MigrationStores
import PersistenceDriver
import PersistenceMigration
import Synchronization
import Testing
import PersistenceDriverSupport

@Suite("StoreMove")
struct StoreMoveTests {
  struct Stop: Error {}

  final class App: Sendable {
    let from: String
    let to: String
    let folder: URL
    let retired = Atomic<Int>(0)

    init(_ from: String, _ to: String, _ folder: URL) {
      (self.from, self.to, self.folder) = (from, to, folder)
    }

    var oldPath: String { folder.appendingPathComponent("old").path }
    var newPath: String { folder.appendingPathComponent("new").path }

    func old() throws -> any StorageContext { try TestStores.open(from, oldPath) }

    var move: StoreMove {
      StoreMove(
        from: { [self] in
          guard FileManager.default.fileExists(atPath: oldPath) else { return nil }
          return try old()
        }, to: { [self] in try TestStores.open(to, newPath) },
        retiring: { [self] in
          retired.add(1, ordering: .relaxed)
          for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: oldPath + suffix) }
        })
    }
  }

  func withApp(_ from: String, _ to: String, _ body: (App) throws -> Void) throws {
    try TestStores.withFolder { try body(App(from, to, $0)) }
  }

  static let pairs = TestStores.durable.flatMap { from in
    TestStores.durable.filter { $0 != from }.map { (from, $0) }
  }

  @Test("Moves the store at the first launch, once, and retires the old one", arguments: pairs)
  func moves(from: String, to: String) throws {
    try withApp(from, to) { app in
      let old = try app.old()
      try SampleStores.fill(old, pairCount: 200)
      let catalog = try old.catalog()
      try old.close()
      for start in 0..<3 {
        let store = try app.move.open()
        try store.requireComplete()
        #expect(try store.catalog().filter { $0.name != "persistence.move" } == catalog)
        #expect(try store.count(FetchRequest(SampleStores.pairs())) == 200 + start)
        try SampleStores.save(
          [.integer(Int64(1000 + start)), .uuid(UUID()), .double(0)], SampleStores.pairs(), in: store)
        try store.close()
      }
      #expect(app.retired.load(ordering: .relaxed) == 1)
    }
  }

  @Test("Completes a move whose every launch is interrupted after one batch", arguments: TestStores.durable)
  func interrupted(to: String) throws {
    try withApp("json", to == "json" ? "lmdb" : to) { app in
      let old = try app.old()
      try SampleStores.fill(old, pairCount: 20)
      try old.close()
      var stops = 0
      while true {
        // The n-th launch is interrupted after n steps.
        var steps = 0
        do {
          let store = try app.move.open { _ in
            steps += 1
            if steps > stops { throw Stop() }
          }
          #expect(try store.count(FetchRequest(SampleStores.pairs())) == 20)
          try store.close()
          break
        } catch is Stop { stops += 1 }
      }
      #expect(stops > 4)
    }
  }

  @Test("Restarts if the old version ran in between; does nothing without an old store")
  func changedInBetween() throws {
    try withApp("sqlite", "lmdb") { app in
      let fresh = try app.move.open()
      #expect(try fresh.catalog().isEmpty)
      try fresh.close()
      var old = try app.old()
      try SampleStores.fill(old, pairCount: 50)
      try old.close()
      #expect(throws: Stop.self) {
        try app.move.open { if $0.phase == .verifying { throw Stop() } }
      }
      old = try app.old()
      try old.transaction { transaction in
        _ = try transaction.deleteAll(in: SampleStores.pairs())
      }
      try SampleStores.save([.integer(1), .uuid(UUID()), .double(0)], SampleStores.pairs(), in: old)
      try old.close()
      let store = try app.move.open()
      #expect(try store.count(FetchRequest(SampleStores.pairs())) == 1)
      #expect(try store.count(FetchRequest(SampleStores.everyKind())) == 5)
      try store.close()
    }
  }

  @Test("A migration task reports its progress and its result")
  func asynchronous() async throws {
    let (source, destination) = (MemoryContext(), MemoryContext())
    try SampleStores.fill(source, pairCount: 500)
    let running = Migration(from: source, to: destination, options: MigrationOptions(batchSize: 100)).start()
    var last: StoreProgress?
    for try await progress in running { last = progress }
    #expect(last != nil)
    #expect(try await running.report.counts.written == 505)
    #expect(try StoreComparison(source, destination).run().isEqual)
  }

  @Test("A cancelled migration task ends and can be resumed", arguments: [true, false])
  func cancelled(byTask: Bool) async throws {
    let (source, destination) = (MemoryContext(), GatedContext(MemoryContext()))
    try SampleStores.fill(source, pairCount: 100)
    var options = MigrationOptions(batchSize: 1)
    let running = Migration(from: source, to: destination, options: options).start()
    if byTask {
      let task = Task { try await running.report }
      task.cancel()
      while !running.isCancelled { await Task.yield() }
      destination.open()
      await #expect(throws: CancellationError.self) { try await task.value }
    } else {
      await #expect(throws: CancellationError.self) {
        for try await _ in running {
          running.cancel()
          destination.open()
        }
      }
      await #expect(throws: CancellationError.self) { try await running.report }
    }
    #expect(throws: PersistenceError.self) { try destination.requireComplete() }
    options.start = .resume
    #expect(try Migration(from: source, to: destination, options: options).run().counts.written == 105)
  }
}

/// A context whose transactions wait for a signal, from the tenth on.
private final class GatedContext: StorageContextWrapper {
  let wrapped: any StorageContext
  private let gate = DispatchSemaphore(value: 0)
  private let count = Atomic<Int>(0)

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  func open() { gate.signal() }

  func transaction(_ mode: TransactionMode, _ body: (any StorageTransaction) throws -> Void) throws {
    if count.add(1, ordering: .relaxed).newValue == 10 { gate.wait() }
    try wrapped.transaction(mode, body)
  }
}
