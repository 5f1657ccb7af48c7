#if Postgres
  import Foundation
  import OurContexts
  import PersistenceConformance
  import PersistenceCore
  import PersistenceDriverSupport
  import Synchronization
  import TestSupport
  import Testing

  @testable import PersistencePostgres

  /// Histories of clients on few records while clients, connections and the server are killed, checked after the event.
  @Suite(.withServer, .serialized) struct FaultyHistoryTests {
    /// How many histories there are of each kind, how long each lasts, and how many clients it has.
    private static let (rounds, time, clients) =
      Environment.isSoak ? (20, Duration.seconds(15), 32) : (1, .seconds(3), 8)

    /// Runs clients in two contexts beside a disturbance, and compares what they learned with what the store holds.
    ///
    /// The clients reach the store by one URL of the server, and the check by the scratch's.
    private func history(
      _ scratch: Scratch, by url: String? = nil, ready: () throws -> Void = {},
      until isEnough: @escaping @Sendable () -> Bool = { true },
      disturbing disturb: @escaping @Sendable (Scratch) throws -> Void
    ) throws -> HotRows {
      let clients = url.map { scratch.on($0) } ?? scratch
      let contexts = try [clients.open(), clients.open()]
      let rows = try HotRows(contexts.map { Repository($0) }, for: Self.time)
      try rows.run(clients: Self.clients, until: isEnough) { try disturb(scratch) }
      try ready()
      // A commit that nobody waits for any more may still be under way.
      try scratch.endConnections()
      let checker = try scratch.open()
      #expect(try rows.anomalies(in: Repository(checker)) == [])
      #expect(rows.counts.applied > 0)
      for context in contexts + [checker] { try context.close() }
      return rows
    }

    private static func scratch(on server: PostgresServer? = nil) throws -> Scratch {
      try Scratch(on: server?.url) {
        $0.busyTimeout = .seconds(60)
        $0.poolSize = 32
      }
    }

    @Test("W6 W3 transactions of many clients on few records act one after another")
    func undisturbed() throws {
      for _ in 0..<Self.rounds {
        let rows = try history(Self.scratch()) { _ in usleep(100_000) }
        #expect(rows.counts.unknown == 0)
      }
    }

    @Test("W5 W6 transactions act one after another while the server ends connections at random")
    func endedConnections() throws {
      for _ in 0..<Self.rounds {
        _ = try history(Self.scratch()) { scratch in
          usleep(UInt32.random(in: 10_000...100_000))
          try scratch.run(
            "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
              + "AND application_name = '\(scratch.configuration.schema)' ORDER BY random() LIMIT 2) AS chosen"
          )
        }
      }
    }

    @Test(
      "W5 W6 transactions act one after another while the server and its processes are killed, and start again",
      .enabled(if: PostgresServer.programs != nil))
    func killedServer() throws {
      let server = try PostgresServer()
      defer { server.stop() }
      let kills = Atomic(0)
      for _ in 0..<Self.rounds {
        let ready = {
          // The server may not have noticed the last kill.
          usleep(500_000)
          try server.waitUntilReady()
        }
        _ = try history(Self.scratch(on: server), ready: ready) { scratch in
          try server.waitUntilReady()
          usleep(UInt32.random(in: 100_000...500_000))
          if Bool.random() {
            server.kill()
          } else if let process = try? Self.process(of: scratch) {
            // The server ends its other processes then, since this one may have damaged their memory.
            _ = kill(process, SIGKILL)
          }
          kills.add(1, ordering: .relaxed)
        }
      }
      #expect(kills.load(ordering: .relaxed) > 0)
    }

    /// The server's process of one of the store's connections; nil if there is none.
    private static func process(of scratch: Scratch) throws -> Int32? {
      let found = try scratch.run(
        "SELECT pid::int8 FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
          + "AND application_name = '\(scratch.configuration.schema)' ORDER BY random() LIMIT 1")
      guard let result = found.first, result.count == 1 else { return nil }
      return result.integer(0, 0).flatMap { Int32(exactly: $0) }
    }

    @Test(
      "W5 W6 transactions act one after another while connections are cut before, during and after their commits",
      .enabled(if: PostgresServer.programs != nil))
    func cutCommits() throws {
      let server = try PostgresServer()
      defer { server.stop() }
      let cutter = try CommitCutter(before: server)
      defer { cutter.stop() }
      for _ in 0..<Self.rounds {
        let ready = { cutter.cut(oneOf: 0) }
        let isEnough = { @Sendable in cutter.cuts.count == CommitCutter.Cut.allCases.count }
        _ = try history(Self.scratch(on: server), by: cutter.url, ready: ready, until: isEnough) { _ in
          cutter.cut(oneOf: 8)
          usleep(50_000)
        }
      }
      #expect(cutter.cuts.count == CommitCutter.Cut.allCases.count, "\(cutter.cuts)")
    }

    @Test(
      "R5 a connection does not return to the pool while a request to cancel is on its way",
      .enabled(if: PostgresServer.programs != nil))
    func lateCancellation() throws {
      let server = try PostgresServer()
      defer { server.stop() }
      let context = try Scratch(on: server.url).open()
      let connection = try context.pool.take()
      connection.cancel()
      #expect(!connection.isBroken)
      // The main process takes no request while it is stopped.
      let line = try String(contentsOfFile: server.folder + "/data/postmaster.pid", encoding: .utf8)
        .split(separator: "\n").first
      let process = try #require(line.flatMap { Int32($0) })
      #expect(kill(process, SIGSTOP) == 0)
      connection.cancel(within: 0.1)
      #expect(kill(process, SIGCONT) == 0)
      #expect(connection.isBroken)
      try context.close()
    }

    @Test(
      "C3 a server finds nothing to report when contexts are closed",
      .enabled(if: PostgresServer.programs != nil))
    func closedConnections() throws {
      let server = try PostgresServer()
      defer { server.stop() }
      let scratch = try Scratch(on: server.url)
      let context = try scratch.open()
      try context.save((0..<300).map { Scratch.row(Int64($0), "text") })
      try context.close()
      for _ in 0..<40 {
        let context = try scratch.open()
        // Releasing the results ends their transaction, and nobody waits for the answer.
        #expect(try context.texts().count == 300)
        try context.close()
      }
      let log = try String(contentsOfFile: server.folder + "/log", encoding: .utf8)
      #expect(!log.contains("connection to client lost"))
    }

    @Test(
      "W5 a commit is known to be rolled back if it was cut before it, and applied if it was cut after it")
    func cutOutcomes() throws {
      let server = try PostgresServer()
      defer { server.stop() }
      let cutter = try CommitCutter(before: server)
      defer { cutter.stop() }
      let scratch = try Scratch(on: server.url)
      let repository = Repository(try scratch.on(cutter.url).open())
      try repository.save(Account(0, balance: 0))
      var applied = 0
      for step in 1...30 {
        cutter.cut(oneOf: 1)
        let before = cutter.cuts
        let failed = code { try repository.write(Account.self, id: 0) { $0.balance += 1 } }
        cutter.cut(oneOf: 0)
        #expect(cutter.cuts.values.reduce(0, +) == step)
        let cut = CommitCutter.Cut.allCases.first { cutter.cuts[$0] != before[$0] }
        switch cut {
        case .before: #expect(failed == .unreachable)
        case .after: #expect(failed == nil)
        // The answer to the statement with the transaction's number may be lost too.
        case .during: #expect(failed == nil || failed == .unreachable || failed == .outcomeUnknown)
        case nil: Issue.record("no commit was cut")
        }
        if failed == .outcomeUnknown { try scratch.endConnections() }
        let found = try repository.find(Account.self, id: 0)?.balance ?? -1
        if failed == nil { applied += 1 }
        if failed == .outcomeUnknown, found == applied + 1 { applied += 1 }
        #expect(found == applied)
        applied = found
      }
      try repository.close()
    }

    @Test(
      "W3 W6 transactions act one after another while clients are killed, which leave none of them in part",
      .enabled(if: Environment.wants("postgres")))
    func killedClients() throws {
      for _ in 0..<Self.rounds {
        try ContextUnderTest.postgres.withScratch { context in
          let store = try context.makeStore()
          var options = OpeningOptions()
          options.busyMilliseconds = 60_000
          let repository = try store.open(options)
          let accounts = 10
          try repository.save(contentsOf: (1...accounts).map { Account($0, balance: 100) })
          try repository.save(Person("list"))
          var (workers, ended): ([(Int, WorkerProcess)], [(Int, WorkerProcess)]) = ([], [])
          /// Starts a worker; each third one appends, and the others transfer.
          func start(_ number: Int) throws {
            let worker =
              number % 3 == 0
              ? try store.worker("append", "\(number)", "1000000", "replayable", opening: options)
              : try store.worker(
                "transfer", "\(accounts)", "1000000", "\(number)", "replayable", opening: options)
            workers.append((number, worker))
          }
          for number in 0..<Self.clients { try start(number) }
          var next = Self.clients
          let deadline = ContinuousClock.now + Self.time
          while .now < deadline {
            usleep(UInt32.random(in: 100_000...300_000))
            let killed = workers.remove(at: Int.random(in: 0..<workers.count))
            killed.1.kill()
            killed.1.release()
            ended.append(killed)
            try start(next)
            next += 1
            let sum = try repository.filter(Account.self).result().reduce(0) { $0 + $1.balance }
            #expect(sum == accounts * 100, "at one moment")
          }
          for (_, worker) in workers { worker.kill() }
          ended += workers
          // A server's process goes on until it notices that its client is gone; a plain transaction waits for it.
          try repository.transaction { try $0.save(Account(0, balance: 0)) }
          let sum = try repository.filter(Account.self).result().reduce(0) { $0 + $1.balance }
          #expect(sum == accounts * 100)
          var transactions: [ListTransaction] = []
          for (number, worker) in ended where number % 3 == 0 {
            let reads = worker.lines.filter { $0.hasPrefix("before ") }
              .map { $0.dropFirst(7).split(separator: " ").map(String.init) }
            for (step, read) in reads.enumerated() {
              transactions.append(
                ListTransaction(word: "\(number)-\(step)", reads: [0: read], appends: [0], outcome: .applied))
            }
            // The kill may have met the next one before or after its commit.
            transactions.append(ListTransaction(word: "\(number)-\(reads.count)", appends: [0]))
          }
          let list = try repository.find(Person.self, id: "list")?.tags ?? []
          #expect(ListHistory(transactions: transactions).anomalies(endingWith: [list]) == [])
          for (_, worker) in ended {
            #expect(!worker.lines.contains { $0.hasPrefix("error") }, "\(worker.lines)")
          }
          try repository.close()
        }
      }
    }
  }
#endif
