import Dispatch
import PersistenceCore
import Synchronization

/// W2 W3 W6: replayable transactions, on engines that run them at the same time and on others.
enum ReplayChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a plain closure runs exactly once, beside writers that may be replayed", [.w3, .w6], once),
    ConformanceCheck(
      "two replayable transactions that meet at one record act as if one came first, and run again only as declared",
      [.w6, .w3], meeting),
    ConformanceCheck(
      "replayable increments of few records on many threads are all there", [.w6, .w2], increments),
    ConformanceCheck(
      "replayable transactions that read two records and change one show no write skew", [.w6, .w3]
    ) { try IsolationChecks.skew($0, replayable: true) },
    ConformanceCheck(
      "replayable transactions that count and then insert never count uncommitted records", [.w6]
    ) { try IsolationChecks.phantoms($0, replayable: true) },
    ConformanceCheck(
      "replayable transactions that define models at once all commit", [.w6, .w3], definitions),
    ConformanceCheck(
      "of threads that insert one unique value at once, one succeeds and the others get its error",
      [.w4, .w6], unique),
    ConformanceCheck(
      "while threads delete records and insert others that refer to them, no reference is broken",
      [.l1, .w6],
      references),
    ConformanceCheck(
      "a replayable closure that throws rolls back, and its error is passed on", [.w3, .e2], failure),
  ]

  @Sendable private static func once(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: [Account(1, balance: 0)], .patient)
    let runs = try Threads.run(6) { number -> Int in
      var runs = 0
      for _ in 0..<10 {
        if number.isMultiple(of: 2) {
          try repository.transaction { store in
            runs += 1
            try store.write(Account.self, id: 1) { $0.balance += 1 }
          }
        } else {
          try repository.write(Account.self, id: 1) { $0.transfers += 1 }
        }
      }
      return runs
    }
    try expect(runs, equals: [10, 0, 10, 0, 10, 0])
    let account = try require(repository.find(Account.self, id: 1))
    try expect([account.balance, account.transfers], equals: [30, 30])
  }

  @Sendable private static func meeting(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: [Account(1, balance: 0)], .patient)
    let capabilities = try repository.storage.capabilities
    let arrivals = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
    // Where writers take turns, the other one cannot come.
    let patience = capabilities.writesInParallel ? 20.0 : 0.1
    let outcomes = try Threads.run(2) { number -> (runs: Int, met: Bool) in
      var (runs, met) = (0, false)
      try repository.transaction(replayable: true) { store in
        var account = try require(store.find(Account.self, id: 1))
        runs += 1
        if runs == 1 {
          arrivals[1 - number].signal()
          met = arrivals[number].wait(timeout: .now() + patience) == .success
        }
        account.balance += 1
        try store.update(account)
      }
      return (runs, met)
    }
    try expect(repository.find(Account.self, id: 1)?.balance, equals: 2)
    let runs = outcomes.reduce(0) { $0 + $1.runs }
    if capabilities.writesInParallel {
      try expect(outcomes.map(\.met), equals: [true, true], "both closures run at the same time")
    }
    try expect(runs == 2 || capabilities.replays, "\(runs) runs of two closures")
    try expect(runs > 2 || !(capabilities.writesInParallel && capabilities.replays), "\(runs) runs")
  }

  @Sendable private static func increments(_ context: ContextUnderTest) throws {
    let records = 3
    let repository = try context.makeRepository(
      with: (0..<records).map { Account($0, balance: 0) }, .patient)
    let each = context.effort.times(10, thorough: 100)
    try Threads.run(8) { number in
      for step in 0..<each {
        let id = (number + step) % records
        if step.isMultiple(of: 2) {
          try repository.write(Account.self, id: id) { $0.balance += 1 }
        } else {
          try repository.transaction(replayable: true) { store in
            var account = try require(store.find(Account.self, id: id))
            account.balance += 1
            try store.save(account)
          }
        }
      }
    }
    try expect(repository.fetch(Account.self).reduce(0) { $0 + $1.balance }, equals: 8 * each)
  }

  @Sendable private static func definitions(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(.patient)
    try Threads.run(4) { number in
      try repository.transaction(replayable: true) { store in
        try store.insert(Account(number, balance: 1))
        try store.insert(Person("\(number)"))
        try store.insert(Keyed(number, "by \(number)"))
      }
    }
    try expect(repository.fetch(Account.self).map(\.id), equals: [0, 1, 2, 3])
    try expect(repository.fetch(Person.self).map(\.id), equals: ["0", "1", "2", "3"])
    try expect(repository.count(Keyed<Int>.self), equals: 4)
  }

  @Sendable private static func unique(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: [Person("zero", email: "zero@example.org")], .patient)
    for round in 0..<context.effort.times(5, thorough: 50) {
      let codes = try Threads.run(4) { number -> PersistenceError.Code? in
        do {
          try repository.save(Person("\(round)-\(number)", email: "\(round)@example.org"))
          return nil
        } catch let error as PersistenceError {
          return error.code
        }
      }
      try expect(codes.filter { $0 == nil }.count, equals: 1, "\(codes)")
      try expect(codes.filter { $0 == .uniqueViolation }.count, equals: 3, "\(codes)")
      try expect(repository.count(Person.self), equals: round + 2)
    }
  }

  @Sendable private static func references(_ context: ContextUnderTest) throws {
    let rounds = context.effort.times(10, thorough: 100)
    let repository = try context.makeRepository(with: [Studio(0)], .patient)
    try repository.insert(Film(0, studio: 0))
    try Threads.run(4) { number in
      for round in 1...rounds {
        do {
          switch number {
          case 0: try repository.save(Studio(round))
          case 1: try repository.delete(Studio.self, id: round)
          default: try repository.save(Film(number, studio: round))
          }
        } catch let error as PersistenceError where error.code == .brokenReference {
          continue
        }
      }
    }
    let studios = Set(try repository.fetch(Studio.self).map(\.id))
    for film in try repository.fetch(Film.self) {
      try expect(studios.contains(film.studio.key), "the studio of the film \(film.id)")
    }
  }

  @Sendable private static func failure(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: [Account(1, balance: 1)])
    try expectThrows(SuiteError()) {
      try repository.transaction(replayable: true) { store in
        try store.write(Account.self, id: 1) { $0.balance = 2 }
        throw SuiteError()
      }
    }
    try expect(repository.find(Account.self, id: 1)?.balance, equals: 1)
    let sum = try repository.transaction(replayable: true) { store in
      try store.save(Account(2, balance: 2))
      try expectThrows(SuiteError()) {
        try store.transaction { inner in
          try inner.deleteAll(Account.self)
          throw SuiteError()
        }
      }
      return try store.fetch(Account.self).reduce(0) { $0 + $1.balance }
    }
    try expect(sum, equals: 3)
  }
}
