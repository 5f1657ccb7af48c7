import PersistenceCore
import PersistenceDriverSupport

/// U1: the end of observation, which leaves nothing behind.
enum ObservationEndChecks {
  static let all: [ConformanceCheck] = [
    ObservationChecks.observing(
      "observation ends when all iterators are released, or their task is cancelled", released),
    ObservationChecks.observing("cancelling a waiting task ends its updates with nil", cancelled),
    ObservationChecks.observing("closing a context ends its updates with the error closed", closed),
    ObservationChecks.observing(
      "updates end with incompleteStore when a migration starts to fill the store, and observation ends",
      incomplete),
    ObservationChecks.observing(
      "tasks that start one iterator at the same time share one observer, and each gets its updates", together
    ),
    ObservationChecks.observing(
      "observing from inside a transaction throws an error", insideTransaction),
    ConformanceCheck(
      asynchronous: "a context that does not report commits rejects observation", [.u1], needs: [], refused),
  ]

  @Sendable private static func released(_ repository: Repository) async throws {
    let observers = try observers(of: repository.storage)
    try expect(!observers.isObserved)
    do {
      var first = repository.updates(of: Account.self).makeAsyncIterator()
      try expect(!observers.isObserved, "before the first call")
      _ = try await first.next()
      try expect(observers.isObserved)
      var second = repository.updates(of: Person.self).makeAsyncIterator()
      _ = try await second.next()
      for try await _ in repository.updates(of: Person.self) { break }
      try expect(observers.isObserved)
    }
    try expect(!observers.isObserved, "after the iterators")
    let task = CheckExecutor.task { for try await _ in repository.updates(of: Account.self) {} }
    while !observers.isObserved { await Task.yield() }
    task.cancel()
    try await task.value
    try expect(!observers.isObserved, "after the task")
    // A second iteration of the sequence starts a new observation.
    let updates = repository.updates(of: Account.self)
    for id in 1...3 {
      try repository.save(Account(id, balance: 0))
      for try await update in updates {
        try expect(update.changes, equals: .first)
        try expect(update.results.count, equals: id)
        break
      }
    }
    try expect(!observers.isObserved)
  }

  @Sendable private static func cancelled(_ repository: Repository) async throws {
    for round in 0..<20 {
      let task = CheckExecutor.task {
        var seen = 0
        for try await _ in repository.updates(of: Account.self) { seen += 1 }
        return seen
      }
      // At different moments of the iteration.
      for _ in 0..<(round * 10) { await Task.yield() }
      task.cancel()
      let seen = try await task.value
      try expect(seen <= 1, "updates of a cancelled task")
    }
  }

  @Sendable private static func closed(_ repository: Repository) async throws {
    let observers = try observers(of: repository.storage)
    // An observation that had not read its first result would end because it cannot.
    let hasBegun = Lock(false)
    let task = CheckExecutor.task {
      for try await _ in repository.updates(of: Account.self) { hasBegun.withLock { $0 = true } }
    }
    while !hasBegun.withLock({ $0 }) { await Task.yield() }
    try repository.close()
    try await expectAsyncError(.closed) { try await task.value }
    try expect(!observers.isObserved)
  }

  @Sendable private static func incomplete(_ repository: Repository) async throws {
    let storage = try repository.storage
    let observers = try observers(of: storage)
    try repository.save(Account(1, balance: 1))
    var updates = repository.updates(of: Account.self, where: \.balance > 0).makeAsyncIterator()
    _ = try await updates.required()
    try RowStore(storage, IncompleteChecks.ledger()).save([[.text("")]])
    try await expectAsyncError(.incompleteStore) { try await updates.required() }
    try expect(!observers.isObserved)
    try storage.transaction { _ = try $0.deleteAll(in: IncompleteChecks.ledger()) }
    var later = repository.updates(of: Account.self).makeAsyncIterator()
    try await later.expectNext(.first, ids: [1], "after the migration")
  }

  @Sendable private static func together(_ repository: Repository) async throws {
    let observers = try observers(of: repository.storage)
    for round in 1...20 {
      do {
        let updates = repository.updates(of: Account.self).makeAsyncIterator()
        let writer = CheckExecutor.task {
          var balance = 0
          while !Task.isCancelled {
            balance += 1
            try repository.save(Account(round, balance: balance))
            try? await Task.sleep(for: .milliseconds(1))
          }
        }
        try await withThrowingTaskGroup(of: Bool.self) { group in
          for _ in 1...4 {
            group.addTask {
              var own = updates
              return try await own.required().changes == .first
            }
          }
          var firsts = 0
          for try await isFirst in group where isFirst { firsts += 1 }
          try expect(firsts, equals: 1, "the number of first updates")
        }
        writer.cancel()
        try await writer.value
      }
      // A task releases its copy shortly after it has returned its result.
      for _ in 0..<200 where observers.isObserved { try await Task.sleep(for: .milliseconds(10)) }
      try expect(!observers.isObserved, "after the iterators")
    }
  }

  @Sendable private static func insideTransaction(_ repository: Repository) async throws {
    let updates = try repository.transaction { $0.updates(of: Account.self) }
    try await expectAsyncError(.unsupported) { for try await _ in updates {} }
  }

  @Sendable private static func refused(_ context: ContextUnderTest) async throws {
    let repository = try context.makeStore().open()
    guard try !repository.storage.capabilities.reportsCommits else { return }
    try await expectAsyncError(.unsupported) {
      for try await _ in repository.updates(of: Account.self) { break }
    }
  }

  private static func observers(of storage: any StorageContext) throws -> CommitObservers {
    try require(storage.innermost as? any ObservableContext, "a context that reports commits").observers
  }
}
