#if Postgres
  import Foundation
  import PersistenceConformance
  import PersistenceCore
  import Synchronization
  import Testing

  @testable import PersistencePostgres

  /// Histories of many threads on few records, checked after the event.
  @Suite(.withServer) struct ParallelHistoryTests {
    private static let (threads, steps, records) = (12, 20, 10)

    private let (context, other): (PostgresContext, PostgresContext)
    private let repository: Repository

    init() throws {
      let scratch = try Scratch { $0.busyTimeout = .seconds(60) }
      (context, other) = try (scratch.open(), scratch.open())
      repository = Repository(context)
      try repository.save(contentsOf: (0..<Self.records).map { Account($0, balance: 100) })
      try repository.save(Person("list"))
    }

    @Test("W6 W3 transfers between few accounts keep the sum, and none is lost")
    func bank() throws {
      let repository = repository
      let sums = try together(Self.threads) { number -> [Int] in
        var sums: [Int] = []
        for step in 0..<Self.steps {
          let (from, to) = ((number + step) % Self.records, (number * 7 + step * 3 + 1) % Self.records)
          guard number > 1 else {
            sums.append(try repository.fetch(Account.self).reduce(0) { $0 + $1.balance })
            continue
          }
          try repository.transaction(replayable: true) { store in
            try store.write(Account.self, id: from) { account in
              account.balance -= 1
              account.transfers += 1
            }
            try store.write(Account.self, id: to) { $0.balance += 1 }
          }
        }
        return sums
      }
      #expect(Set(sums.joined()) == [100 * Self.records], "what readers have seen")
      let accounts = try Array(repository.fetch(Account.self))
      #expect(accounts.reduce(0) { $0 + $1.balance } == 100 * Self.records)
      #expect(accounts.reduce(0) { $0 + $1.transfers } == (Self.threads - 2) * Self.steps)
      try context.close()
      try other.close()
    }

    @Test("W2 W6 appends to one list are all there, each behind the list that its closure read")
    func list() throws {
      let repository = repository
      let seen = try together(Self.threads) { number -> [[String]] in
        try (0..<Self.steps).map { step in
          var before: [String] = []
          try repository.write(Person.self, id: "list") { list in
            before = list.tags
            list.tags.append("\(number)-\(step)")
          }
          return before + ["\(number)-\(step)"]
        }
      }
      let list = try #require(try repository.find(Person.self, id: "list")).tags
      #expect(list.count == Self.threads * Self.steps && Set(list).count == list.count)
      for history in seen.joined() { #expect(Array(list.prefix(history.count)) == history) }
      for number in 0..<Self.threads {
        let own = list.filter { $0.hasPrefix("\(number)-") }
        #expect(own == (0..<Self.steps).map { "\(number)-\($0)" })
      }
      try context.close()
      try other.close()
    }

    @Test("W6 transactions that each see a sum of two records and change one never overdraw it")
    func skew() throws {
      let repository = repository
      for round in 0..<Self.steps {
        let (first, second) = (round % 5 * 2, round % 5 * 2 + 1)
        try repository.save(contentsOf: [Account(first, balance: 50), Account(second, balance: 50)])
        let done = try together(8) { number -> Bool in
          try repository.transaction(replayable: true) { store in
            let sum = try [first, second].reduce(0) {
              try $0 + (store.find(Account.self, id: $1)?.balance ?? 0)
            }
            guard sum >= 60 else { return false }
            try store.write(Account.self, id: number.isMultiple(of: 2) ? first : second) { $0.balance -= 60 }
            return true
          }
        }
        #expect(done.filter { $0 }.count == 1, "withdrawals of 60 from 100")
      }
      try context.close()
      try other.close()
    }

    @Test("W6 exclusive, replayable and single writes of two contexts on few records act one after another")
    func mixed() throws {
      let (first, second) = (repository, Repository(other))
      let counts = try together(Self.threads) { number -> Int in
        let repository = number.isMultiple(of: 2) ? first : second
        var runs = 0
        for step in 0..<Self.steps {
          let id = step % Self.records
          switch number % 3 {
          case 0:
            try repository.transaction { store in
              runs += 1
              try store.write(Account.self, id: id) { $0.transfers += 1 }
            }
          case 1:
            try repository.transaction(replayable: true) { store in
              var account = try #require(try store.find(Account.self, id: id))
              account.transfers += 1
              try store.save(account)
            }
          default: try repository.write(Account.self, id: id) { $0.transfers += 1 }
          }
        }
        return runs
      }
      #expect(counts == (0..<Self.threads).map { $0 % 3 == 0 ? Self.steps : 0 }, "plain closures run once")
      let accounts = try repository.fetch(Account.self)
      #expect(accounts.reduce(0) { $0 + $1.transfers } == Self.threads * Self.steps)
      try context.close()
      try other.close()
    }
  }

  /// Runs a closure on some threads at once, and returns the results in the threads' order.
  func together<Success: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> Success
  ) throws -> [Success] {
    let results = Mutex<[Int: Result<Success, any Error>]>([:])
    let group = DispatchGroup()
    for number in 0..<count {
      group.enter()
      Thread.detachNewThread {
        let result = Result { try body(number) }
        results.withLock { $0[number] = result }
        group.leave()
      }
    }
    group.wait()
    let all = results.withLock { $0 }
    return try (0..<count).compactMap { try all[$0]?.get() }
  }
#endif
