#if Postgres
  import PersistenceDriver
  import PersistenceDriverSupport
  import Testing

  @testable import PersistencePostgres

  /// Observers of contexts that are open at a standby.
  extension ReplicaTests {
    @Test("U1 an observer at a standby hears of a commit although a greater number was committed before it")
    func lateNumbers() throws {
      let server = try ReplicatedServer.shared.get()
      let primary = try server.openPrimary("late")
      try primary.save([Scratch.row(1, "one")])
      let late = try PostgresConnection.open(primary.store)
      _ = try late.run([PostgresCommand("BEGIN"), PostgresCommits.log(primary.store)], "begin")
      try primary.save([Scratch.row(2, "two")])
      try server.catchUp()
      let standby = try server.openStandby("late")
      let commits = PostgresCommits(standby.store)
      _ = try commits.newCommits()
      #expect(try commits.newCommits().isEmpty)
      _ = try late.run([PostgresCommand("COMMIT")], "commit")
      try server.catchUp()
      #expect(try !commits.newCommits().isEmpty)
      #expect(try commits.newCommits().isEmpty, "it is told once")
      try server.run(.primary, "CREATE TABLE late.other (id int8)")
      try server.catchUp()
      #expect(try commits.newCommits().isEmpty, "another program has written")
      try standby.close()
      try primary.close()
    }

    @Test("U1 an observer at a standby hears of a commit after the observers at the primary server")
    func laterStandby() throws {
      let server = try ReplicatedServer.shared.get()
      let primary = try server.openPrimary("later")
      try primary.save([Scratch.row(1, "one")])
      try server.catchUp()
      let standby = try server.openStandby("later")
      let request = try FetchRequest(Scratch.schema.get())
      let observer = try CommitObserver(request, in: standby, keyLimit: 10)
      try standby.observers.add(observer)
      defer { server.resumeReplay() }
      try server.pauseReplay()
      try primary.save([Scratch.row(2, "two")])
      let before = try standby.observers.look(observer, at: standby)
      #expect(try before.snapshot.count(request) == 1 && !before.changes.isUnknown)
      server.resumeReplay()
      try server.catchUp()
      try standby.observers.checkOutside()
      let (snapshot, changes) = try standby.observers.look(observer, at: standby)
      #expect(changes.isUnknown)
      #expect(try snapshot.count(request) == 2)
      standby.observers.remove(observer)
      try standby.close()
      try primary.close()
    }

    @Test("U1 a check notices that its standby was promoted, although its connection lives on")
    func promotedStandby() throws {
      let server = try ReplicatedServer()
      let primary = try server.openPrimary("test")
      try primary.save([Scratch.row(1, "one")])
      try server.catchUp()
      let standby = try server.openStandby("test")
      let commits = PostgresCommits(standby.store)
      _ = try commits.newCommits()
      #expect(try commits.newCommits().isEmpty)
      try server.promote()
      #expect(try !commits.newCommits().isWhole)
      #expect(try commits.newCommits().isEmpty)
      try standby.close()
      try primary.close()
    }
  }
#endif
