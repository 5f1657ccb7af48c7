#if Postgres
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import Synchronization
  import TestSupport
  import Testing

  @testable import PersistencePostgres

  /// The moments that results and snapshots hold.
  @Suite(.withServer) struct MomentTests {
    private func context(_ scratch: Scratch) throws -> PostgresContext {
      let context = try scratch.open()
      try context.save((1...2_000).map { Scratch.row($0, "text \($0)") })
      return context
    }

    private func results(_ context: PostgresContext) throws -> any StorageResults {
      try context.fetch(FetchRequest(Scratch.schema.get()))
    }

    @Test("R2 R4 a moment whose connection broke does not keep later fetches from their rows")
    func brokenMoments() throws {
      let scratch = try Scratch()
      let context = try context(scratch)
      let first = try results(context)
      try scratch.endConnections()
      #expect(try context.texts().count == 2_000, "nobody has noticed the broken moment")
      for _ in 0..<2 {
        #expect(code { _ = try first.read(from: 1_500, limit: 10) { _ in } } == .unreachable)
        #expect(try context.texts().count == 2_000)
        #expect(try context.snapshot().count(FetchRequest(Scratch.schema.get())) == 2_000)
      }
      try context.close()
    }

    @Test("R2 a broken moment counts towards no limit")
    func brokenMomentsAreFree() throws {
      let scratch = try Scratch { $0.pinLimit = 1 }
      let context = try context(scratch)
      let first = try results(context)
      try scratch.endConnections()
      #expect(code { _ = try first.read(from: 1_500, limit: 10) { _ in } } == .unreachable)
      try context.save([Scratch.row(1, "changed")])
      #expect(try context.texts().count == 2_000)
      try context.close()
    }

    @Test("R2 L7 a snapshot beside a result of its moment keeps the tables that the result does not read")
    func snapshotBesideResults() throws {
      let scratch = try Scratch()
      let context = try context(scratch)
      let other = try scratch.open()
      let schema = try ModelSchema(name: "Other", fields: [FieldSchema("id", .int64)], key: ["id"])
      // Other tests commit to the same server, so the moments of a round may differ.
      for _ in 0..<10 {
        try other.transaction { transaction in
          try transaction.define(schema)
          let row = RowBuffer(count: 1)
          row.set([.integer(1)])
          try row.withRow { try transaction.save($0, in: schema) }
        }
        #expect(try context.count(FetchRequest(schema)) == 1)
        let results = try results(context)
        let snapshot = try context.snapshot()
        try other.transaction { try $0.drop(schema) }
        #expect(try snapshot.count(FetchRequest(schema)) == 1)
        #expect(try results.read(from: 1_500, limit: 10) { _ in } == 10)
      }
      try other.close()
      try context.close()
    }

    @Test("R2 a result shares a moment only if at least half of its time is left")
    func agedMoments() throws {
      let scratch = try Scratch()
      let context = try context(scratch)
      for (limit, isShared) in [(Duration.seconds(1_000), true), (.milliseconds(100), false)] {
        let other = try scratch.open { $0.pinTimeout = limit }
        let session = PostgresSession.reading(
          try other.pool.take(), try #require(context.store.catalog))
        try session.verify()
        let pin = PostgresPin(session, of: other.pool)
        Thread.sleep(forTimeInterval: 0.06)
        #expect(pin.admits(session) == isShared)
        try other.close()
      }
      try context.close()
    }

    @Test("R2 a result and a snapshot of one moment count once towards the limit")
    func momentsOfTwoPins() throws {
      let scratch = try Scratch { $0.pinLimit = 1 }
      let context = try context(scratch)
      func session() throws -> PostgresSession {
        let session = PostgresSession.reading(try context.pool.take(), try #require(context.store.catalog))
        try session.verify()
        return session
      }
      func release(_ session: PostgresSession) {
        session.end()
        context.pool.giveBack(session.connection)
      }
      // Other tests commit to the same server, so the moments of a round may differ.
      try eventually("two sessions have one moment") {
        let (first, second) = (try session(), try session())
        guard first.moment == second.moment else {
          for session in [first, second] { release(session) }
          return false
        }
        second.locksTables = true
        let pins = PostgresPins(context.pool, context.store)
        let result = try pins.pin(first).pin
        let snapshot = try pins.pin(second).pin
        #expect(result !== snapshot)
        try context.save([Scratch.row(1, "changed")])
        let third = try session()
        #expect(code { _ = try pins.pin(third) } == .busy)
        release(third)
        return withExtendedLifetime((result, snapshot)) { true }
      }
      try context.close()
    }

    @Test("U1 C1 an observer neither shares nor waits for a moment that a reader is using")
    func observersAndReaders() throws {
      let scratch = try Scratch()
      let context = try context(scratch)
      let taken = PostgresSession.reading(try context.pool.take(), try #require(context.store.catalog))
      try taken.verify()
      nonisolated(unsafe) let session = taken
      let pin = PostgresPin(session, of: context.pool)
      let isSharedAtRest = ObserversLock.$isHeld.withValue(true) { pin.admits(session) }
      #expect(isSharedAtRest)
      let isShared = Atomic(true)
      let isRefused = Atomic(false)
      let end = DispatchSemaphore(value: 0)
      try pin.withSession { _ in
        Thread.detachNewThread {
          ObserversLock.$isHeld.withValue(true) {
            isShared.store(pin.admits(session), ordering: .sequentiallyConsistent)
            do {
              try pin.withSession { _ in }
            } catch {
              isRefused.store(error is SnapshotWouldWait, ordering: .sequentiallyConsistent)
            }
          }
          end.signal()
        }
        #expect(end.wait(timeout: .now() + 20) == .success)
      }
      let wasShared = isShared.load(ordering: .sequentiallyConsistent)
      let wasRefused = isRefused.load(ordering: .sequentiallyConsistent)
      #expect(!wasShared && wasRefused)
      try context.close()
    }

    @Test("R5 R2 an interruption that comes after the answer ends its read only, and not the moment")
    func lateInterruption() throws {
      let scratch = try Scratch()
      let context = try context(scratch)
      let results = try results(context)
      let snapshot = try context.snapshot()
      // The server has answered the whole batch before the sixth check.
      let interruption = ReadInterruption(atCheck: 6, PersistenceError(.cancelled, "the caller has gone"))
      let interrupted = code {
        try interruption.run { _ = try results.read(from: 1_500, limit: 5) { _ in } }
      }
      #expect(interrupted == .cancelled)
      #expect(try results.read(from: 1_900, limit: 10) { _ in } == 10)
      #expect(try snapshot.count(FetchRequest(Scratch.schema.get())) == 2_000)
      try context.close()
    }

    @Test("R3 a jump to a position beyond 32 bits finds no rows, and the result goes on")
    func farJumps() throws {
      let scratch = try Scratch()
      let context = try context(scratch)
      let results = try results(context)
      for position in [Int(Int32.max), Int(Int32.max) + 1, 3 * Int(Int32.max), Int.max - 10] {
        #expect(try results.read(from: position, limit: 1) { _ in } == 0)
        #expect(try results.read(from: 1_500, limit: 10) { _ in } == 10)
      }
      try context.close()
    }

    @Test("R1 the first page of a model with long values has few rows until their size is known")
    func firstPages() throws {
      let scratch = try Scratch()
      let context = try context(scratch)
      let catalog = try #require(context.store.catalog)
      let table = try #require(try context.store.table(StoredName("Note"), in: catalog))
      let model = try table.model(for: Scratch.schema.get(), store: context.store)
      #expect(model.pageLimit <= 4)
      #expect(try results(context).read(from: 0, limit: 10) { _ in } == 10)
      #expect(model.pageLimit > 64, "small rows do not wait for a second page")
      model.learn(rows: 2, bytes: 128 << 20)
      #expect(model.pageLimit == 1)
      #expect(try context.texts().count == 2_000)
      try context.close()
    }
  }
#endif
