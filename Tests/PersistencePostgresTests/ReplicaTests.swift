#if Postgres
  import Foundation
  import OurContexts
  import PersistenceDriver
  import PersistenceDriverSupport
  import Testing

  @testable import PersistencePostgres

  /// Reads from a standby.
  @Suite(.withPrograms, .serialized) struct ReplicaTests {
    private func request(_ limit: Int? = nil) throws -> FetchRequest {
      try FetchRequest(Scratch.schema.get(), limit: limit)
    }

    private func find(_ id: Int64, in reader: any StorageReader) throws -> Bool {
      try reader.find(RecordKey([.integer(id)]), in: Scratch.schema.get()) { _ in }
    }

    /// Opens the store with notes, so that its next reads go to the standby.
    private func open(_ server: ReplicatedServer, notes: Int64 = 1) throws -> PostgresContext {
      let context = try server.open()
      try context.save((1...notes).map { Scratch.row($0, "note") })
      try eventually("the context reads from the standby") {
        try context.replicas?.attempt { try $0.results(request(), selecting: nil).count() } == Int(notes)
      }
      #expect(try server.isRead())
      return context
    }

    @Test("reads go to a standby, and to the primary server inside of transactions and for observers")
    func reads() throws {
      let server = try ReplicatedServer()
      let context = try open(server)
      let other = try server.open("")
      try server.run(.standby, "SELECT pg_wal_replay_pause()")
      try other.save([Scratch.row(2, "two")])
      // The standby lacks the second note, which shows who answers.
      #expect(try context.count(request()) == 1)
      #expect(try context.texts() == ["note"])
      #expect(try !find(2, in: context))
      let total = try context.aggregate(AggregateRequest(request(), aggregates: [.count]))
      #expect(total.first?.values == [.integer(1)])
      #expect(try context.snapshot().count(request()) == 1)
      #expect(try other.count(request()) == 2, "a context without the option reads from the primary server")
      try context.transaction { transaction in
        let (count, isThere) = (try transaction.count(request()), try find(2, in: transaction))
        #expect(count == 2 && isThere)
      }
      let observer = try CommitObserver(request(), in: context, keyLimit: 10)
      try context.observers.add(observer)
      #expect(try context.observers.look(observer, at: context).snapshot.count(request()) == 2)
      context.observers.remove(observer)
      // The transaction and the observer have seen the note, so later reads must.
      #expect(try context.texts() == ["note", "two"])
      try server.run(.standby, "SELECT pg_wal_replay_resume()")
      try other.close()
      try context.close()
    }

    @Test("C2 a read sees the commits of its own context at once", arguments: ["on", "off"])
    func ownCommits(_ synchronous: String) throws {
      let server = try ReplicatedServer(settings: "synchronous_commit = \(synchronous)")
      let context = try open(server)
      for id in Int64(2)...201 {
        try context.save([Scratch.row(id, "note")])
        switch id % 3 {
        case 0: #expect(try find(id, in: context))
        case 1: #expect(try context.count(request()) == Int(id))
        default: #expect(try context.snapshot().count(request()) == Int(id))
        }
      }
      // A standby that stands still shows no new commit, so the primary server answers.
      try server.run(.standby, "SELECT pg_wal_replay_pause()")
      for id in Int64(202)...204 {
        try context.save([Scratch.row(id, "note")])
        #expect(try find(id, in: context))
      }
      try context.close()
    }

    @Test("C2 a read sees the deletion that its context made, also of what an open result shows")
    func deletions() throws {
      let server = try ReplicatedServer()
      let context = try open(server, notes: 3000)
      let result = try context.fetch(request())
      #expect(try result.read(from: 0, limit: 10) { _ in } == 10)
      try context.transaction { _ = try $0.delete(RecordKey([.integer(1)]), in: Scratch.schema.get()) }
      #expect(try !find(1, in: context))
      #expect(try context.count(request()) == 2999)
      #expect(try result.count() == 3000)
      try context.close()
    }

    @Test("R2 results on a standby show different moments, although it writes both alike")
    func moments() throws {
      let server = try ReplicatedServer()
      let context = try open(server, notes: 3000)
      let writers = try (1...3).map { number in
        let writer = try server.connect(.primary)
        _ = try writer.run(
          [
            PostgresCommand("BEGIN"),
            PostgresCommand("INSERT INTO test.\"Note\" (id, text) VALUES (\(number + 5000), 'new')"),
          ], "write")
        return writer
      }
      func commit(_ number: Int) throws {
        _ = try writers[number].run([PostgresCommand("COMMIT")], "commit")
        try server.catchUp()
      }
      // The first one stays open, and the last one is the newest.
      try commit(2)
      let first = try context.fetch(request())
      try commit(1)
      let second = try context.fetch(request())
      for (result, count) in [(first, 3001), (second, 3002)] {
        #expect(try result.read(from: 0, limit: .max) { _ in } == count)
        #expect(try result.count() == count)
      }
      try context.close()
    }

    @Test("R2 a result whose moment the standby gives up throws snapshotExpired, and a new one is read")
    func conflicts() throws {
      let server = try ReplicatedServer(settings: "max_standby_streaming_delay = 0")
      let context = try open(server, notes: 5000)
      let result = try context.fetch(request())
      #expect(try result.read(from: 0, limit: 10) { _ in } == 10)
      try server.run(.primary, "DELETE FROM test.\"Note\" WHERE id > 10", "VACUUM test.\"Note\"")
      try server.catchUp()
      #expect(code { _ = try result.read(from: 4000, limit: 10) { _ in } } == .snapshotExpired)
      #expect(code { _ = try result.read(from: 4000, limit: 10) { _ in } } == .snapshotExpired)
      #expect(try context.texts().count == 10)
      try context.close()
    }

    @Test("reads go on without the standby, and return to it")
    func lostStandby() throws {
      let server = try ReplicatedServer()
      let context = try open(server, notes: 3000)
      let result = try context.fetch(request())
      #expect(try result.read(from: 0, limit: 10) { _ in } == 10)
      try server.kill(.standby)
      #expect(try find(1, in: context))
      #expect(try context.count(request()) == 3000)
      #expect(code { _ = try result.read(from: 2000, limit: 10) { _ in } } == .unreachable)
      try context.save([Scratch.row(3001, "note")])
      #expect(try context.count(request()) == 3001)
      try server.start(.standby)
      try eventually("the standby is used again") {
        #expect(try context.count(request()) == 3001)
        return try server.isRead()
      }
      try context.close()
    }

    @Test("reads go on at the standby while the primary server is gone")
    func lostPrimary() throws {
      let server = try ReplicatedServer()
      let context = try open(server)
      try server.kill(.primary)
      #expect(try context.texts() == ["note"])
      #expect(code { try context.save([Scratch.row(2, "two")]) } != nil)
      try server.promote()
      try eventually("the promoted server takes writes") {
        (try? context.save([Scratch.row(2, "two")])) != nil
      }
      #expect(try context.texts() == ["note", "two"])
      try context.close()
    }

    @Test("a server that is no standby is not read as one")
    func noStandby() throws {
      let server = try ReplicatedServer()
      try server.promote()
      // The former standby is a server of its own now, and would answer without the note.
      let context = try server.open()
      try context.save([Scratch.row(1, "one")])
      #expect(try context.texts() == ["one"])
      #expect(try !server.isRead())
      try context.close()
    }
  }
#endif
