import PersistenceCore

/// U2: commits of other processes.
enum OutsideCommitChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      asynchronous: "commits of another process wake a waiting observer, which sees the last of them", [.u2],
      needs: [.writable, .reportingCommits, .multiProcess, .noticingOutsideCommits], reported),
    ConformanceCheck(
      asynchronous:
        "while another process writes, no commit of this process is missed, reported by keys or as unknown",
      [.u2, .u1], needs: [.writable, .reportingCommits, .multiProcess, .noticingOutsideCommits], beside),
    ConformanceCheck(
      asynchronous: "the commits of a process killed before its notification are seen all the same", [.u2],
      needs: [.writable, .reportingCommits, .multiProcess, .noticingOutsideCommits], killed),
  ]

  @Sendable private static func killed(_ context: ContextUnderTest) async throws {
    let accounts = 30
    let store = try context.makeStore(on: .disk)
    let repository = try store.open(.patient)
    try repository.save(contentsOf: (1...accounts).map { Account($0, balance: 100) })
    try await Watchdog.limit(seconds: context.effort.times(120, thorough: 1200)) {
      var random = SeededGenerator(seed: context.seed ?? 74)
      var updates = repository.updates(of: Account.self).makeAsyncIterator()
      var shown = balances(try await updates.required().results)
      for _ in 0..<context.effort.times(3, thorough: 60) {
        let worker = try store.worker(
          "transfer", "\(accounts)", "100000", "\(random.int(0...999))", opening: .patient)
        try worker.wait(for: "ack \(random.int(1...9))")
        try await Task.sleep(for: .microseconds(random.int(0...5000)))
        worker.kill()
        let stored = balances(try repository.fetch(Account.self))
        while shown != stored {
          let update = try await updates.required()
          try expect(update.changes, equals: .unknown)
          shown = balances(update.results)
          try expect(
            shown.values.reduce(0, +), equals: accounts * 100, "the total, which transfers do not change")
        }
      }
      try repository.save(Account(-1, balance: 0))
      while shown[-1] == nil { shown = balances(try await updates.required().results) }
    }
  }

  @Sendable private static func reported(_ context: ContextUnderTest) async throws {
    let store = try context.makeStore()
    let repository = try store.open(.patient)
    try repository.save(contentsOf: (1...400).map { Account($0, balance: 0) })
    try await Watchdog.limit {
      var updates = repository.updates(of: Account.self, where: \.id < 0).makeAsyncIterator()
      try await updates.expectNext(.first, ids: [])
      let worker = try store.worker("rewrite", opening: .patient)
      var count = 0
      while count < 100 {
        let update = try await updates.required()
        try expect(update.changes, equals: .unknown)
        count = update.results.count
      }
      try expect(worker.waitUntilOver() == .success, "\(worker.lines.suffix(2))")
      // This process's commits are still reported with keys.
      try repository.save(Account(-1000, balance: 0))
      var last = try await updates.required()
      // The worker's last commits may be reported once more.
      if last.changes == .unknown, last.results.count == 100 { last = try await updates.required() }
      try expect(last.results.count, equals: 101)
    }
  }

  @Sendable private static func beside(_ context: ContextUnderTest) async throws {
    let store = try context.makeStore()
    let repository = try store.open(.patient)
    let words = context.effort.times(15, thorough: 300)
    try await Watchdog.limit(seconds: context.effort.times(120, thorough: 1200)) {
      let worker = try store.worker("append", "1", "\(words)", opening: .patient)
      try worker.wait(for: "open")
      let observer = CheckExecutor.task {
        var (seen, reported, isUnknown) = (0, Set<Int>(), false)
        for try await update in repository.updates(of: Account.self, where: \.id > 0) {
          seen = update.results.count
          switch update.changes {
          case .first: reported.formUnion(update.results.map(\.id))
          case .unknown:
            isUnknown = true
            reported.formUnion(update.results.map(\.id))
          case .keys(let keys):
            let ids = Set(try keys.inserted.map { try $0.value(as: Int.self) })
            try expect(ids.isDisjoint(with: reported), "keys reported twice: \(ids.intersection(reported))")
            reported.formUnion(ids)
          }
          try expect(
            reported, equals: Set(update.results.map(\.id)), "the reported changes, after \(update.changes)")
          if seen == words { break }
        }
        return (reported.count, isUnknown)
      }
      for id in 1...words {
        try repository.save(Account(id, balance: 0))
        await Task.yield()
      }
      let (reported, _) = try await observer.value
      try expect(reported, equals: words)
      try expect(worker.waitUntilOver() == .success, "\(worker.lines.suffix(2))")
    }
  }

  private static func balances(_ records: some Sequence<Account>) -> [Int: Int] {
    Dictionary(records.map { ($0.id, $0.balance) }, uniquingKeysWith: { $1 })
  }
}
