#if Postgres
  import Foundation
  import PersistenceConformance
  import PersistenceCore
  import PersistenceDriver
  import PersistenceDriverSupport
  import Synchronization
  import Testing

  @testable import PersistencePostgres

  /// Writes and reads that take one round trip, and what they do if it does not suffice.
  @Suite(.withServer) struct RoundTripTests {
    private let scratch: Scratch
    private let context: PostgresContext
    private let repository: Repository

    init() throws {
      scratch = try Scratch()
      context = try scratch.open()
      repository = Repository(context)
      try repository.save(contentsOf: (1...3).map { Account($0, balance: 100) })
      try repository.save(Self.person("first", "a@example.org"))
    }

    private static func person(_ id: String, _ email: String) -> Person {
      var person = Person(id)
      person.email = email
      return person
    }

    @Test("W4 a refused insertion or save that did not wait for its answer tells what is in the way")
    func refusals() throws {
      let duplicate = failure { try repository.insert(Account(2, balance: 7)) }
      #expect(duplicate?.code == .duplicateKey && duplicate?.key?.description.contains("2") == true)
      let violation = failure { try repository.save(Self.person("second", "a@example.org")) }
      #expect(violation?.code == .uniqueViolation)
      let replaced = failure { try repository.insert(Self.person("third", "a@example.org")) }
      #expect(replaced?.code == .uniqueViolation)
      #expect(try repository.find(Account.self, id: 2)?.balance == 100)
      #expect(try repository.count(Person.self) == 1)
      try repository.insert(Account(4, balance: 4))
      try repository.save(Self.person("fourth", "b@example.org"))
      #expect(try repository.count(Account.self) == 4 && repository.count(Person.self) == 2)
      try context.close()
    }

    @Test("W2 W4 a replayable closure may catch the error of a save, and go on")
    func caught() throws {
      var errors = 0
      try repository.transaction(replayable: true) { store in
        try store.save(Account(1, balance: 5))
        do {
          try store.save(Self.person("second", "a@example.org"))
        } catch {
          errors += 1
        }
        try store.save(Account(5, balance: 5))
      }
      #expect(errors == 1)
      #expect(try repository.fetch(Account.self).map(\.balance).sorted() == [5, 5, 100, 100])
      #expect(try repository.count(Person.self) == 1)
      try context.close()
    }

    @Test("W6 a replayable closure misses no record of a model that another context has defined meanwhile")
    func definedMeanwhile() throws {
      let empty = try Scratch()
      let (early, late) = (try empty.open(), try empty.open())
      // It knows the catalog from now on.
      #expect(try Repository(early).count(Account.self) == 0)
      try Repository(late).save(Account(1, balance: 100))
      var found: [Int?] = []
      try Repository(early).transaction(replayable: true) { store in
        let account = try store.find(Account.self, id: 1)
        found.append(account?.balance)
      }
      #expect(found == [100])
      try early.close()
      try late.close()
      try context.close()
    }

    @Test("W5 R4 connections that broke while they were idle delay a write, and nothing else")
    func brokenConnections() throws {
      for round in 1...3 {
        try scratch.endConnections()
        try repository.save(Account(1, balance: round))
        try scratch.endConnections()
        #expect(try repository.find(Account.self, id: 1)?.balance == round)
        try scratch.endConnections()
        try repository.insert(Account(10 + round, balance: round))
      }
      #expect(try repository.count(Account.self) == 6)
      try context.close()
    }

    @Test(
      "C2 S1 a write and a read notice a model that another process replaced, and its version's table was renamed"
    )
    func replacedModels() throws {
      let other = try scratch.open()
      let (old, new) = (try Scratch.schema.get(), try Self.replacement.get())
      try context.save([Scratch.row(1, "one")])
      func find(_ schema: ModelSchema) throws -> Bool {
        try context.find(RecordKey([.integer(1)]), in: schema) { _ in }
      }
      #expect(try find(old))
      try other.transaction { transaction in
        try transaction.drop(old)
        try transaction.define(new)
      }
      // Wrong positions are wrong in every schema.
      #expect(failure { _ = try context.fetch(FetchRequest(old), selecting: [-1]) }?.code == .invalidRequest)
      #expect(failure { _ = try find(old) }?.code == .schemaMismatch)
      #expect(try !find(new))
      #expect(failure { try save(1) }?.code == .schemaMismatch)
      try other.transaction { try $0.drop(new) }
      #expect(try !find(old))
      #expect(failure { try save(1) }?.code == .invalidRequest)
      try context.save([Scratch.row(2, "two")])
      #expect(try other.texts() == ["two"])
      try other.close()
      try context.close()
    }

    private static let replacement = Result {
      try ModelSchema(
        name: "Note", fields: [FieldSchema("id", .int64), FieldSchema("text", .int64)], key: ["id"])
    }

    /// Saves a note without defining its model.
    private func save(_ id: Int64) throws {
      try context.transaction(.replayable) { try $0.save(Scratch.row(id, "text")) }
    }

    @Test(
      "R1 W3 without the table of the catalog's version, or the right to it, reads and writes take more round trips",
      arguments: [
        "DROP TABLE", "REVOKE ALL ON TABLE",
      ])
    func withoutVersionTable(_ change: String) throws {
      try context.save([Scratch.row(1, "one")])
      let version = try #require(context.store.catalog?.version)
      let table = "\(scratch.schemaName).persistence_version_\(version)"
      let isDropped = change.hasPrefix("DROP")
      var (user, name) = ("postgres", scratch.configuration.schema)
      if !isDropped {
        user = name
        try scratch.run(
          "CREATE ROLE \(scratch.schemaName) LOGIN",
          "GRANT ALL ON SCHEMA \(scratch.schemaName) TO \(scratch.schemaName)",
          "GRANT ALL ON ALL TABLES IN SCHEMA \(scratch.schemaName) TO \(scratch.schemaName)")
      }
      defer {
        if !isDropped {
          _ = try? scratch.run(
            "DROP OWNED BY \(scratch.schemaName)", "DROP ROLE \(scratch.schemaName)")
        }
      }
      name = scratch.schemaName
      try scratch.run(isDropped ? "DROP TABLE \(table)" : "REVOKE ALL ON TABLE \(table) FROM \(name)")
      let restricted = try PostgresContext(
        url: scratch.url.replacing("user=postgres", with: "user=\(user)"),
        configuration: scratch.configuration)
      for id in Int64(2)...4 {
        try restricted.transaction(.replayable) { try $0.save(Scratch.row(id, "text")) }
        #expect(try restricted.find(RecordKey([.integer(id)]), in: Scratch.schema.get()) { _ in })
      }
      #expect(try restricted.texts().count == 4)
      if isDropped {
        try restricted.transaction { try $0.define(Self.another.get()) }
        #expect(try restricted.schema(named: "Another") != nil)
      }
      try restricted.close()
      try context.close()
    }

    private static let another = Result {
      try ModelSchema(name: "Another", fields: [FieldSchema("id", .int64)], key: ["id"])
    }

    @Test("S1 declarations that follow one another at one place in memory are mapped each by its own fields")
    func shortLivedDeclarations() throws {
      try context.transaction { try $0.define(Self.another.get()) }
      for number in 0..<100 {
        let isSame = number.isMultiple(of: 2)
        let schema = try ModelSchema(
          name: "Another", fields: [FieldSchema("id", isSame ? .int64 : .string)], key: ["id"])
        let key = RecordKey([isSame ? .integer(1) : .text("1")])
        let expected: PersistenceError.Code? = isSame ? nil : .schemaMismatch
        #expect(failure { _ = try context.find(key, in: schema) { _ in } }?.code == expected)
        #expect(failure { _ = try context.count(FetchRequest(schema)) }?.code == expected)
      }
      try context.close()
    }

    @Test("W6 R2 finds and writes beside changes of the catalog see the newest one, and none of them fails")
    func besideDefinitions() throws {
      let group = DispatchGroup()
      let errors = Mutex<[String]>([])
      let isOver = Atomic<Bool>(false)
      for number in 0..<4 {
        group.enter()
        Thread.detachNewThread { [repository] in
          defer { group.leave() }
          do {
            while !isOver.load(ordering: .relaxed) {
              try repository.save(Account(100 + number, balance: number))
              guard try repository.find(Account.self, id: 100 + number)?.balance == number else {
                return errors.withLock { $0.append("a record is missing") }
              }
            }
          } catch {
            errors.withLock { $0.append("\(error)") }
          }
        }
      }
      for _ in 0..<10 {
        try context.transaction { try $0.define(Self.another.get()) }
        try context.transaction { try $0.drop(Self.another.get()) }
      }
      isOver.store(true, ordering: .relaxed)
      group.wait()
      #expect(errors.withLock(\.self) == [])
      try context.close()
    }

    @Test(
      "R2 R3 pages that were requested ahead are those of the result's moment, whatever happens between them")
    func readAhead() throws {
      let schema = try Scratch.schema.get()
      try context.save((1...9_000).map { Scratch.row($0, "text \($0)") })
      _ = try context.fetch(FetchRequest(schema, limit: 10))
      let snapshot = try context.snapshot()
      let forward = try snapshot.fetch(FetchRequest(schema))
      let backward = try snapshot.fetch(FetchRequest(schema, order: [FieldOrder("id", isDescending: true)]))
      var (ascending, descending): ([Int64], [Int64]) = ([], [])
      for start in stride(from: 0, to: 9_000, by: 500) {
        for (results, isForward) in [(forward, true), (backward, false)] {
          _ = try results.read(from: start, limit: 500) { row in
            guard case .integer(let id) = try row.value(at: 0) else { return }
            if isForward { ascending.append(id) } else { descending.append(id) }
          }
        }
        if start % 1_500 == 0 {
          try context.save([
            Scratch.row(8_999, "changed \(start)"), Scratch.row(Int64(20_000 + start), "new"),
          ])
          var text: PersistentValue?
          _ = try snapshot.find(RecordKey([.integer(8_999)]), in: schema) { text = try $0.value(at: 1) }
          #expect(text == .text("text 8999"))
          #expect(try snapshot.count(FetchRequest(schema)) == 9_000)
        }
      }
      #expect(ascending == Array(1...9_000))
      #expect(descending == Array((1...9_000).reversed()))
      // A jump does not want the page that was requested.
      let jumping = try snapshot.fetch(FetchRequest(schema))
      for start in [0, 1_000, 2_000, 3_000, 100, 8_500, 1_100, 2_100, 3_100] {
        var first: PersistentValue?
        _ = try jumping.read(from: start, limit: 1_000) { row in
          if first == nil { first = try row.value(at: 0) }
        }
        #expect(first == .integer(Int64(start + 1)))
      }
      try context.close()
    }

    @Test("R4 C3 a result that is released while a page is on its way leaves its connection usable")
    func releasedAhead() throws {
      let schema = try Scratch.schema.get()
      try context.save((1...5_000).map { Scratch.row($0, "text \($0)") })
      _ = try context.fetch(FetchRequest(schema, limit: 10))
      for _ in 0..<20 {
        let results = try context.fetch(FetchRequest(schema))
        #expect(try results.read(from: 0, limit: 2_500) { _ in } == 2_500)
      }
      #expect(try context.texts().count == 5_000)
      try context.save([Scratch.row(1, "changed")])
      let backends = try scratch.run(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(scratch.configuration.schema)'")
      #expect(backends.first?.integer(0, 0).map { $0 < 6 } == true)
      try context.close()
    }
  }
#endif
