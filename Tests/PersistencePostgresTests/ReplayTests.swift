#if Postgres
  import Foundation
  import PersistenceConformance
  import PersistenceCore
  import Synchronization
  import TestSupport
  import Testing

  @testable import PersistencePostgres

  /// Replayable transactions, and those that run once.
  @Suite(.withServer) struct ReplayTests {
    private let scratch: Scratch
    private let context: PostgresContext
    private let repository: Repository

    init() throws {
      scratch = try Scratch()
      context = try scratch.open()
      repository = Repository(context)
      try repository.save(contentsOf: (1...3).map { Account($0, balance: 100) })
    }

    private func balance(_ id: Int) throws -> Int? { try repository.find(Account.self, id: id)?.balance }

    @Test("W3 W6 a closure that met another transaction runs again, and reads what the other one wrote")
    func again() throws {
      var runs = 0
      let seen = try repository.transaction(replayable: true) { store in
        runs += 1
        var account = try #require(try store.find(Account.self, id: 1))
        let seen = account.balance
        if runs == 1 { try elsewhere { try repository.write(Account.self, id: 1) { $0.balance += 1 } } }
        account.balance += 10
        try store.update(account)
        return seen
      }
      #expect(runs == 2 && seen == 101)
      #expect(try balance(1) == 111)
      try context.close()
    }

    @Test("W2 a closure of write runs again, on the newest record")
    func write() throws {
      var runs = 0
      try repository.write(Account.self, id: 1) { account in
        runs += 1
        if runs == 1 { try elsewhere { try repository.write(Account.self, id: 1) { $0.transfers += 1 } } }
        account.balance += 1
      }
      #expect(runs == 2)
      let account = try #require(try repository.find(Account.self, id: 1))
      #expect(account.balance == 101 && account.transfers == 1)
      try context.close()
    }

    @Test("W6 of two transactions that read two records and each change one, the second sees the first")
    func skew() throws {
      var runs = 0
      @Sendable func withdraw(from id: Int, _ store: any PersistentRepository) throws {
        guard try store.fetch(Account.self).reduce(0, { $0 + $1.balance }) >= 200 else { return }
        try store.write(Account.self, id: id) { $0.balance -= 200 }
      }
      try repository.transaction(replayable: true) { store in
        runs += 1
        if runs == 1 {
          _ = try store.count(Account.self)
          try elsewhere {
            try repository.transaction(replayable: true) { try withdraw(from: 1, $0) }
          }
        }
        try withdraw(from: 2, store)
      }
      #expect(runs == 2)
      #expect(try balance(1) == -100)
      #expect(try balance(2) == 100, "100 are left, which is not enough")
      try context.close()
    }

    @Test(
      "W6 what a transaction has read and told stays true: a later commit that would change it runs again")
    func readers() throws {
      try repository.save(Person("first"))
      var runs = 0
      let seen = Mutex<(batch: Int?, entries: Int)>((nil, -1))
      // The balance of the first account is the number of the open batch, and the age of a person that of theirs.
      try repository.transaction(replayable: true) { store in
        runs += 1
        let batch = try #require(try store.find(Account.self, id: 1)).balance
        if runs == 1 {
          try elsewhere { try repository.write(Account.self, id: 1) { $0.balance += 1 } }
          try elsewhere {
            try repository.transaction(replayable: true) { store in
              let open = try store.find(Account.self, id: 1)?.balance
              let entries = try store.fetch(Person.self).reduce(0) { $0 + ($1.age == batch ? 1 : 0) }
              seen.withLock { $0 = (open, entries) }
            }
          }
        }
        var entry = Person("entry")
        entry.age = batch
        try store.insert(entry)
      }
      #expect(runs == 2)
      #expect(seen.withLock { $0.batch == 101 && $0.entries == 0 }, "the batch 100 is closed, and empty")
      #expect(try repository.find(Person.self, id: "entry")?.age == 101)
      try context.close()
    }

    @Test("W6 a closure that catches a conflict runs again all the same")
    func caught() throws {
      var runs = 0
      try repository.transaction(replayable: true) { store in
        runs += 1
        _ = try store.count(Account.self)
        if runs == 1 { try elsewhere { try repository.write(Account.self, id: 1) { $0.balance += 1 } } }
        try? store.transaction { try $0.update(Account(1, balance: 7)) }
        try? store.save(Account(4, balance: 4))
      }
      #expect(runs == 2)
      #expect(try balance(1) == 7)
      #expect(try balance(4) == 4)
      try context.close()
    }

    @Test("W6 a transaction that meets others until its time is over throws busy, and changes nothing")
    func busy() throws {
      let impatient = Repository(try scratch.open { $0.busyTimeout = .milliseconds(300) })
      var runs = 0
      let start = ContinuousClock.now
      let failed = code {
        try impatient.transaction(replayable: true) { store in
          runs += 1
          var account = try #require(try store.find(Account.self, id: 1))
          try elsewhere { try repository.write(Account.self, id: 1) { $0.transfers += 1 } }
          account.balance = 0
          try store.update(account)
        }
      }
      #expect(failed == .busy)
      #expect(runs > 1 && ContinuousClock.now - start < .seconds(10))
      let account = try #require(try repository.find(Account.self, id: 1))
      #expect(account.balance == 100 && account.transfers == runs)
      try impatient.close()
      try context.close()
    }

    @Test("W3 W6 a plain closure runs once, and no other writer runs meanwhile")
    func once() throws {
      let events = Mutex<[String]>([])
      let group = DispatchGroup()
      var runs = 0
      try repository.transaction { store in
        runs += 1
        try store.write(Account.self, id: 1) { $0.balance += 1 }
        for number in 0..<4 {
          group.enter()
          Thread.detachNewThread {
            defer { group.leave() }
            _ = try? repository.write(Account.self, id: 1) { $0.balance += 1 }
            events.withLock { $0.append("\(number)") }
          }
        }
        Thread.sleep(forTimeInterval: 0.2)
        events.withLock { $0.append("end") }
      }
      group.wait()
      #expect(runs == 1 && events.withLock { $0.first == "end" && $0.count == 5 })
      #expect(try balance(1) == 105)
      try context.close()
    }

    @Test("W3 a replayable transaction that defines a model runs again, alone")
    func definition() throws {
      var runs = 0
      try repository.transaction(replayable: true) { store in
        runs += 1
        try store.save(Account(9, balance: 9))
        try store.save(Person("new"))
      }
      #expect(runs == 2)
      #expect(try repository.count(Account.self) == 4)
      #expect(try repository.count(Person.self) == 1)
      try repository.transaction(replayable: true) { store in
        runs += 1
        try store.save(Person("newer"))
      }
      #expect(runs == 3, "the model is known now")
      try context.close()
    }

    @Test("W4 a unique value or a key that another transaction took meanwhile is told as taken, by whom")
    func taken() throws {
      try repository.save(Self.person("first", "a@example.org"))
      var runs = 0
      var failure = try #require(
        throws: PersistenceError.self,
        performing: {
          try repository.transaction(replayable: true) { store in
            runs += 1
            _ = try store.count(Account.self)
            if runs == 1 { try elsewhere { try repository.insert(Self.person("second", "b@example.org")) } }
            try store.save(Self.person("third", "b@example.org"))
          }
        })
      #expect(failure.code == .uniqueViolation && runs == 2)
      runs = 0
      failure = try #require(
        throws: PersistenceError.self,
        performing: {
          try repository.transaction(replayable: true) { store in
            runs += 1
            _ = try store.count(Account.self)
            if runs == 1 { try elsewhere { try repository.insert(Person("fourth")) } }
            try store.insert(Person("fourth"))
          }
        })
      #expect(failure.code == .duplicateKey && runs == 2)
      try context.close()
    }

    private static func person(_ id: String, _ email: String) -> Person {
      var person = Person(id)
      person.email = email
      return person
    }
  }

  /// Runs a closure on another thread, and waits for its end.
  func elsewhere<Success: Sendable>(_ body: @escaping @Sendable () throws -> Success) throws {
    let outcome = Mutex<Result<Success, any Error>?>(nil)
    let end = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let result = Result(catching: body)
      outcome.withLock { $0 = result }
      end.signal()
    }
    end.wait()
    _ = try outcome.withLock { $0 }?.get()
  }
#endif
