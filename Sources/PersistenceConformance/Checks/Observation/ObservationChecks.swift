import PersistenceCore

/// U1: the updates of observers.
enum ObservationChecks {
  static let all: [ConformanceCheck] = [
    observing(
      "an observer gets the current records, and then exactly the changes of each kind of write", writes),
    observing("a record that starts to match the observed filter is reported as inserted", condition),
    observing(
      "commits to other models, and to records that match neither before nor after, wake no observer",
      unaffected),
    observing(
      "rolled-back changes are not reported, neither of a transaction nor of a nested one", rolledBack),
    observing(
      "changes that arrive faster than they are consumed are coalesced into one change set with"
        + " the latest state", merged),
    observing("more changed keys than the observer's limit are reported as unknown", beyondLimit),
    observing("an observer without a limit gets every changed key", withoutLimit),
    observing("a query with an order and a limit can be observed", pages),
    observing(
      "dropping a model is reported to its observers",
      needs: [.writable, .reportingCommits, .droppingModels], dropped),
  ]

  static func observing(
    _ title: String, needs requirements: [Requirement] = [.writable, .reportingCommits],
    _ body: @escaping @Sendable (Repository) async throws -> Void
  ) -> ConformanceCheck {
    ConformanceCheck(asynchronous: title, [.u1], needs: requirements) { context in
      let repository = try context.makeStore().open(.patient)
      try await Watchdog.limit { try await body(repository) }
    }
  }

  @Sendable private static func writes(_ repository: Repository) async throws {
    try repository.save(contentsOf: (1...5).map { Account($0, balance: 0) })
    var updates = repository.updates(of: Account.self).makeAsyncIterator()
    try await updates.expectNext(.first, ids: [1, 2, 3, 4, 5])

    try repository.insert(Account(6, balance: 0))
    try await updates.expectNext(keys(inserted: [6]), ids: [1, 2, 3, 4, 5, 6], "insert")
    try repository.update(Account(6, balance: 1))
    try await updates.expectNext(keys(updated: [6]), ids: [1, 2, 3, 4, 5, 6], "update")
    try repository.save(contentsOf: [Account(6, balance: 2), Account(7, balance: 0)])
    try await updates.expectNext(keys(inserted: [7], updated: [6]), ids: [1, 2, 3, 4, 5, 6, 7], "save")
    try repository.write(Account.self, id: 1) { $0.balance = 9 }
    try await updates.expectNext(keys(updated: [1]), ids: [1, 2, 3, 4, 5, 6, 7], "write")
    try repository.delete(Account.self, id: 2)
    try await updates.expectNext(keys(deleted: [2]), ids: [1, 3, 4, 5, 6, 7], "delete")
    try repository.filter(Account.self, where: \.id > 5).delete()
    try await updates.expectNext(keys(deleted: [6, 7]), ids: [1, 3, 4, 5], "delete of a query")
    try repository.filter(Account.self, where: \.id > 3).update(.set(\.note, to: "late"))
    try await updates.expectNext(keys(updated: [4, 5]), ids: [1, 3, 4, 5], "update of a query")
    try repository.transaction { store in
      try store.delete(Account.self, id: 1)
      try store.insert(Account(8, balance: 0))
      try store.insert(Account(9, balance: 0))
      try store.delete(Account.self, id: 9)
      try store.write(Account.self, id: 8) { $0.balance = 1 }
    }
    try await updates.expectNext(keys(inserted: [8], deleted: [1]), ids: [3, 4, 5, 8], "transaction")
    try repository.deleteAll(Account.self)
    try await updates.expectNext(keys(deleted: [3, 4, 5, 8]), ids: [], "deleteAll")
  }

  @Sendable private static func condition(_ repository: Repository) async throws {
    try repository.save(contentsOf: (1...6).map { Account($0, balance: $0 * 10) })
    var updates = repository.updates(of: Account.self, where: \.balance >= 30).makeAsyncIterator()
    try await updates.expectNext(.first, ids: [3, 4, 5, 6])
    try repository.transaction { store in
      try store.write(Account.self, id: 1) { $0.balance = 100 }
      try store.write(Account.self, id: 2) { $0.balance = 0 }
      try store.save(Account(3, balance: 31))
      try store.update(Account(4, balance: -4))
      try store.delete(Account.self, id: 5)
      try store.insert(Account(7, balance: 1))
    }
    try await updates.expectNext(keys(inserted: [1], updated: [3], deleted: [4, 5]), ids: [1, 3, 6])
    try repository.filter(Account.self).update(.set(\.balance, to: 30))
    try await updates.expectNext(keys(inserted: [2, 4, 7], updated: [1, 3, 6]))
  }

  @Sendable private static func unaffected(_ repository: Repository) async throws {
    try repository.save(contentsOf: (1...3).map { Account($0, balance: $0) })
    var updates = repository.updates(of: Account.self, where: \.balance > 100).makeAsyncIterator()
    try await updates.expectNext(.first, ids: [])
    try repository.save(Person("ada"))
    try repository.save(Account(1, balance: 50))
    try repository.delete(Account.self, id: 2)
    try repository.delete(Account.self, id: 99)
    try repository.filter(Account.self).update(.set(\.note, to: "seen"))
    // A record that was inserted and deleted between two updates is not reported.
    try repository.save(Account(4, balance: 101))
    try repository.save(Account(4, balance: 99))
    try repository.save(Account(5, balance: 102))
    try await updates.expectNext(keys(inserted: [5]))
  }

  @Sendable private static func rolledBack(_ repository: Repository) async throws {
    try repository.save(contentsOf: (1...3).map { Account($0, balance: 0) })
    var updates = repository.updates(of: Account.self).makeAsyncIterator()
    _ = try await updates.required()
    try expectThrows(SuiteError()) {
      try repository.transaction { store in
        try store.deleteAll(Account.self)
        throw SuiteError()
      }
    }
    try expectError(.duplicateKey) {
      try repository.insert(contentsOf: [Account(9, balance: 0), Account(1, balance: 0)])
    }
    try repository.transaction { store in
      try store.save(Account(1, balance: 1))
      try expectThrows(SuiteError()) {
        try store.transaction { inner in
          try inner.save(Account(4, balance: 0))
          try inner.delete(Account.self, id: 1)
          _ = try inner.transaction { try $0.delete(Account.self, id: 2) }
          throw SuiteError()
        }
      }
      _ = try store.transaction { try $0.delete(Account.self, id: 3) }
    }
    try await updates.expectNext(keys(updated: [1], deleted: [3]), ids: [1, 2])
  }

  @Sendable private static func merged(_ repository: Repository) async throws {
    try repository.save(contentsOf: (1...3).map { Account($0, balance: 0) })
    var updates = repository.updates(of: Account.self).makeAsyncIterator()
    _ = try await updates.required()
    for step in 1...20 { try repository.save(Account(10 + step % 2, balance: step)) }
    try repository.delete(Account.self, id: 1)
    try repository.insert(Account(1, balance: 7))
    try repository.insert(Account(20, balance: 0))
    try repository.delete(Account.self, id: 20)
    let update = try await updates.required()
    try expect(update.changes, equals: keys(inserted: [10, 11], updated: [1]))
    try expect(update.results.map(\.balance), equals: [7, 0, 0, 20, 19])
  }

  @Sendable private static func beyondLimit(_ repository: Repository) async throws {
    let options = ObservationOptions(keyLimit: 10)
    var updates = repository.updates(of: Account.self, options: options).makeAsyncIterator()
    try await updates.expectNext(.first, ids: [])
    try repository.save(contentsOf: (1...10).map { Account($0, balance: 0) })
    try await updates.expectNext(keys(inserted: Array(1...10)))
    try repository.save(contentsOf: (5...15).map { Account($0, balance: 1) })
    let update = try await updates.required()
    try expect(update.changes, equals: .unknown)
    try expect(update.results.count, equals: 15)
    try repository.deleteAll(Account.self)
    try await updates.expectNext(.unknown, "deleteAll of more keys than the limit")
    try repository.save(Account(1, balance: 0))
    try await updates.expectNext(keys(inserted: [1]), "keys after an unknown change")
  }

  @Sendable private static func withoutLimit(_ repository: Repository) async throws {
    let options = ObservationOptions(keyLimit: .max)
    var updates = repository.updates(of: Account.self, where: \.balance == 1, options: options)
      .makeAsyncIterator()
    _ = try await updates.required()
    try repository.save(contentsOf: (1...30).map { Account($0, balance: 1) })
    try await updates.expectNext(keys(inserted: Array(1...30)))
    try repository.filter(Account.self, where: \.id > 20).update(.set(\.balance, to: 2))
    try await updates.expectNext(keys(deleted: Array(21...30)))
    try repository.deleteAll(Account.self)
    try await updates.expectNext(keys(deleted: Array(1...20)))
  }

  @Sendable private static func pages(_ repository: Repository) async throws {
    try repository.save(contentsOf: (1...6).map { Account($0, balance: 10 - $0) })
    var updates = repository.filter(Account.self).sorted(by: \.balance).limit(2).updates().makeAsyncIterator()
    try await updates.expectNext(.first, ids: [6, 5])
    try repository.save(Account(1, balance: 0))
    let update = try await updates.required()
    try expect(update.results.map(\.id), equals: [1, 6])
    try expect(update.changes, equals: keys(updated: [1]))
    try expect(update.changes.keys?.updated.map { try $0.value(as: Int.self) }, equals: [1])
  }

  @Sendable private static func dropped(_ repository: Repository) async throws {
    try repository.save(contentsOf: (1...3).map { Account($0, balance: 0) })
    var updates = repository.updates(of: Account.self).makeAsyncIterator()
    _ = try await updates.required()
    try repository.storage.transaction { try $0.drop(Account.schema.model) }
    let update = try await updates.required()
    try expect(update.changes, equals: keys(deleted: [1, 2, 3]))
    try expect(update.results.count, equals: 0)
  }

  static func keys(inserted: [Int] = [], updated: [Int] = [], deleted: [Int] = []) -> ChangeSet {
    func keys(_ ids: [Int]) -> Set<RecordKey> { Set(ids.map { RecordKey($0.keyValues) }) }
    return .keys(ChangedKeys(inserted: keys(inserted), updated: keys(updated), deleted: keys(deleted)))
  }
}
