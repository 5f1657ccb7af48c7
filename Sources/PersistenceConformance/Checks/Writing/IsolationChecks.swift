import PersistenceCore

/// C1 C2 W3 W6: transactions that depend on their reads.
enum IsolationChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "concurrent transactions that read two records and change one show no write skew", [.w6, .w3]
    ) { try skew($0, replayable: false) },
    ConformanceCheck(
      "concurrent transactions that count and then insert never count uncommitted records", [.w6, .c1]
    ) { try phantoms($0, replayable: false) },
    ConformanceCheck(
      "a list appended to by transactions on many threads has every item once, in one history",
      [.c1, .w3, .r2], appendHistory),
    ConformanceCheck(
      "a list appended to by transactions in several processes has every item once, in one history",
      [.c2, .w3], needs: [.writable, .multiProcess], appendHistoryOfProcesses),
    ConformanceCheck(
      "a record that moves between two models is always seen in exactly one of them",
      [.w3, .r2], movesBetweenModels),
  ]

  static func skew(_ context: ContextUnderTest, replayable: Bool) throws {
    for _ in 0..<context.effort.times(8, thorough: 100) {
      let repository = try context.makeRepository(
        with: [Account(1, balance: 50), Account(2, balance: 50)], .patient)
      let done = try Threads.run(4) {
        try Withdrawals.withdraw(from: $0 % 2 + 1, in: repository, replayable: replayable)
      }
      try expect(done.filter { $0 }.count, equals: 1, "withdrawals of 60 from 100 by four threads")
      try expect(repository.fetch(Account.self).reduce(0) { $0 + $1.balance }, equals: 40)
    }
  }

  static func phantoms(_ context: ContextUnderTest, replayable: Bool) throws {
    let repository = try context.makeStore().open(.patient)
    try Threads.run(4) { number in
      for step in 0..<8 {
        try Withdrawals.takeSeat("\(number)-\(step)", in: repository, replayable: replayable)
      }
    }
    let seats = try repository.filter(Person.self).sorted(by: \.age).result().map(\.age)
    try expect(seats, equals: (0..<32).map(Optional.some))
  }

  @Sendable private static func appendHistory(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(.patient)
    let seen = try Threads.run(5) { number -> [[String]] in
      guard number < 4 else {
        // The reader only reads, by key and by a result.
        return try (0..<20).map { _ in
          let list = try repository.find(Person.self, id: "list")
          let fetched = try repository.filter(Person.self, where: \.id == "list").result().first
          let (first, second) = (list?.tags ?? [], fetched?.tags ?? [])
          return second.starts(with: first) ? second : ["torn"]
        }
      }
      return try (0..<10).map { try Withdrawals.append("\(number)-\($0)", in: repository) }
    }
    try expectHistory(
      require(repository.find(Person.self, id: "list")).tags, of: 4, words: 10, prefixes: seen.flatMap(\.self)
    )
  }

  @Sendable private static func appendHistoryOfProcesses(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open(.patient)
    let words = context.effort.times(15, thorough: 200)
    let workers = try (1...2).map { try store.worker("append", "\($0)", "\(words)", opening: .patient) }
    for worker in workers { try worker.wait(for: "open") }
    var seen = try (0..<words).map { try Withdrawals.append("0-\($0)", in: repository) }
    for worker in workers {
      try expect(worker.waitUntilOver() == .success, "\(worker.lines.suffix(2))")
      let before = worker.lines.filter { $0.hasPrefix("before ") }.map {
        $0.dropFirst(7).split(separator: " ")
      }
      seen += before.map { $0.map(String.init) }
    }
    try expect(seen.count, equals: 3 * words)
    try expectHistory(
      require(repository.find(Person.self, id: "list")).tags, of: 3, words: words, prefixes: seen)
  }

  /// Checks that each word occurs once, in its writer's order, and that each earlier list is a prefix.
  private static func expectHistory(_ list: [String], of writers: Int, words: Int, prefixes: [[String]])
    throws
  {
    try expect(list.count, equals: writers * words)
    for writer in 0..<writers {
      try expect(list.filter { $0.hasPrefix("\(writer)-") }, equals: (0..<words).map { "\(writer)-\($0)" })
    }
    for prefix in prefixes { try expect(Array(list.prefix(prefix.count)), equals: prefix) }
  }

  @Sendable private static func movesBetweenModels(_ context: ContextUnderTest) throws {
    let items = 40
    let repository = try context.makeRepository(with: (0..<items).map { Account($0, balance: 1) }, .patient)
    let (accounts, people) = (try Account.schema.model, try Person.schema.model)
    let seen = try Threads.run(3) { number -> [Int] in
      if number == 0 {
        for id in 0..<items {
          try repository.transaction { store in
            try store.delete(Account.self, id: id)
            try store.insert(Person("\(id)"))
          }
        }
        return []
      }
      let storage = try repository.storage
      return try (0..<25).map { _ in
        let snapshot = try storage.snapshot()
        return try snapshot.count(FetchRequest(accounts)) + snapshot.count(FetchRequest(people))
      }
    }
    try expect(Set(seen.flatMap(\.self)), equals: [items], "accounts and people in one snapshot")
    try expect(repository.count(Account.self), equals: 0)
    try expect(repository.count(Person.self), equals: items)
  }
}
