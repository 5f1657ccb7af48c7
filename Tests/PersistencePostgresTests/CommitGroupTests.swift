#if Postgres
  import Foundation
  import OurContexts
  import PersistenceConformance
  import PersistenceCore
  import PersistenceDriver
  import PersistenceDriverSupport
  import Synchronization
  import Testing

  @testable import PersistencePostgres

  /// Small transactions that are committed as one while many commit.
  @Suite(.withServer) struct CommitGroupTests {
    private let scratch: Scratch
    private let context: PostgresContext
    private let repository: Repository

    init() throws {
      scratch = try Scratch { $0.busyTimeout = .seconds(60) }
      context = try scratch.open()
      repository = Repository(context)
      try repository.save(Account(1, balance: 100))
      context.commitGroups.patience.store(60_000, ordering: .relaxed)
    }

    /// Inserts each account on a thread of its own, while all turns are taken until all of them wait, and a closure has run;
    /// returns the errors.
    private func insertTogether(
      _ ids: [Int], in other: PostgresContext? = nil,
      whileWaiting body: @escaping @Sendable () throws -> Void = {}
    ) throws -> [PersistenceError?] {
      let context = other ?? context
      let groups = context.commitGroups
      for _ in 0..<PostgresCommitGroups.limit {
        guard case .first? = groups.turnAtOnce() else { throw PersistenceError(.busy, "a turn is taken") }
      }
      let isFull = groups.turnAtOnce() == nil
      #expect(isFull)
      let repository = Repository(context)
      let errors = try together(ids.count + 1) { number -> PersistenceError? in
        guard number == ids.count else {
          return failure { try repository.insert(Account(ids[number], balance: number)) }
        }
        let deadline = ContinuousClock.now + .seconds(30)
        while groups.waitingCount < ids.count, .now < deadline { usleep(1_000) }
        let error = failure { try body() }
        for _ in 0..<PostgresCommitGroups.limit { groups.leave() }
        return error
      }
      let bodyError = errors.last ?? nil
      #expect(bodyError == nil)
      return Array(errors.dropLast())
    }

    /// Runs a closure with a new observer of the accounts, which has seen those that are there.
    private func withObserver(_ body: (CommitObserver) throws -> Void) throws {
      let observer = try CommitObserver(FetchRequest(Account.schema.model), in: context, keyLimit: 100)
      try context.observers.add(observer)
      _ = try context.observers.look(observer, at: context)
      try body(observer)
      context.observers.remove(observer)
      try context.close()
    }

    private func numbers() throws -> Int64 {
      let counted = try scratch.run(
        "SELECT count(*) FROM \(scratch.schemaName).persistence_commits WHERE xid > '1'")
      return try #require(counted.first?.integer(0, 0))
    }

    @Test("W3 W5 transactions that wait for a turn are committed as one, and observers hear of each")
    func group() throws {
      try withObserver { observer in
        let before = try numbers()
        let errors = try insertTogether(Array(10..<18))
        #expect(errors.allSatisfy { $0 == nil })
        #expect(try numbers() == before + 1)
        #expect(try repository.fetch(Account.self).map(\.id) == [1] + Array(10..<18))
        let changes = try context.observers.look(observer, at: context).changes
        #expect(changes.entries.count == 8 && !changes.isUnknown)
        #expect(context.observers.pendingCount == 0)
      }
    }

    @Test("W4 a refused transaction of a group throws its own error, and the others are committed")
    func refusal() throws {
      try withObserver { observer in
        let errors = try insertTogether([20, 1, 21, 22])
        let codes = errors.map { $0?.code }
        #expect(codes == [nil, .duplicateKey, nil, nil])
        #expect(try repository.fetch(Account.self).map(\.id) == [1, 20, 21, 22])
        #expect(try repository.find(Account.self, id: 1)?.balance == 100)
        let changes = try context.observers.look(observer, at: context).changes
        #expect(changes.entries.count == 3 && !changes.isUnknown)
        #expect(context.observers.pendingCount == 0)
        // Each commits alone for a while, and then in groups again.
        usleep(200_000)
        let before = try numbers()
        let laterErrors = try insertTogether([23, 24])
        #expect(laterErrors.allSatisfy { $0 == nil })
        #expect(try numbers() == before + 1)
      }
    }

    @Test(
      "W5 transactions whose connections break while they wait for a turn run again",
      .enabled(if: PostgresServer.programs != nil))
    func brokenConnections() throws {
      let server = try PostgresServer()
      defer { server.stop() }
      let cutter = try CommitCutter(before: server)
      defer { cutter.stop() }
      let store = try Scratch(on: server.url) { $0.busyTimeout = .seconds(60) }
      let context = try store.on(cutter.url).open()
      try Repository(context).save(Account(1, balance: 100))
      context.commitGroups.patience.store(60_000, ordering: .relaxed)
      // A server that ends a connection says so. A network that breaks says nothing.
      let errors = try insertTogether([50, 51, 52, 53], in: context) { cutter.cutAll() }
      #expect(errors.allSatisfy { $0 == nil }, "\(errors)")
      #expect(try Repository(context).fetch(Account.self).map(\.id) == [1, 50, 51, 52, 53])
      try context.close()
    }

    @Test("W6 a transaction of a group that waits for another writer's record does not delay the others")
    func locked() throws {
      let rival = try PostgresConnection.open(context.store)
      let table = "\(scratch.schemaName).\"Account\""
      let insertion = "INSERT INTO \(table) SELECT 30, balance, transfers, note FROM \(table) WHERE id = 1"
      _ = try rival.run(
        [PostgresCommand("BEGIN"), PostgresCommand(insertion)], "write a record of a test")
      let wasSeen = Atomic(false)
      let repository = repository
      let watch = DispatchGroup()
      watch.enter()
      Thread.detachNewThread {
        // The rival goes on until the other record is there.
        let deadline = ContinuousClock.now + .seconds(30)
        while (try? repository.find(Account.self, id: 31)) == nil, .now < deadline { usleep(1_000) }
        let seen = try? repository.find(Account.self, id: 31)
        wasSeen.store(seen != nil, ordering: .sequentiallyConsistent)
        _ = try? rival.run([.rollback], "end a transaction of a test")
        watch.leave()
      }
      let errors = try insertTogether([30, 31])
      watch.wait()
      let isSeen = wasSeen.load(ordering: .sequentiallyConsistent)
      #expect(isSeen)
      #expect(errors.allSatisfy { $0 == nil })
      #expect(try repository.fetch(Account.self).map(\.id) == [1, 30, 31])
      try context.close()
    }

    @Test("W6 a transaction that waits for a turn in vain is committed alone")
    func impatience() throws {
      let groups = context.commitGroups
      groups.patience.store(1, ordering: .relaxed)
      for _ in 0..<PostgresCommitGroups.limit { _ = groups.turnAtOnce() }
      try repository.insert(Account(40, balance: 1))
      try repository.insert(Account(41, balance: 1))
      #expect(groups.waitingCount == 0)
      for _ in 0..<PostgresCommitGroups.limit { groups.leave() }
      #expect(try repository.fetch(Account.self).map(\.id) == [1, 40, 41])
      try context.close()
    }
  }
#endif
