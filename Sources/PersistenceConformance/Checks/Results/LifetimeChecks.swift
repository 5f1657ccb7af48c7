import Dispatch
import PersistenceCore

/// R1a R3 W3: what ends with a transaction, and what outlives a context.
enum LifetimeChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "every call on a transaction that has ended throws closed, and changes nothing", [.w3, .r1a],
      endedTransaction),
    ConformanceCheck(
      "the results of a transaction end with it, whether it commits or rolls back", [.r1a, .w3], endedResults),
    ConformanceCheck(
      "a snapshot that was taken before close stays readable, and shows its moment", [.r3, .r2],
      snapshotAfterClose),
    ConformanceCheck(
      "an error from a closure that receives rows passes unchanged, and leaves nothing locked or pinned",
      [.r4, .w6], throwingClosures),
  ]

  /// Runs a transaction that ends as stated, and returns what its closure has let out.
  private static func leaked<Kept>(
    from storage: any StorageContext, commits: Bool, _ body: (any StorageTransaction) throws -> Kept
  ) throws -> Kept {
    var kept: Kept?
    do {
      try storage.transaction { transaction in
        kept = try body(transaction)
        if !commits { throw SuiteError() }
      }
    } catch is SuiteError {}
    return try require(kept, "what the closure of a transaction returned")
  }

  @Sendable private static func endedTransaction(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    try repository.save(contentsOf: (1...3).map { Account($0, balance: $0) })
    let schema = try Account.schema.model
    let (rows, key) = (try FetchRequest(schema), RecordKey([.integer(1)]))
    let row: [PersistentValue] = [.integer(9), .integer(9), .integer(0), .text("after the end")]
    for commits in [true, false] {
      let ended = try leaked(from: repository.storage, commits: commits) { $0 }
      let calls: [(String, () throws -> Any)] = [
        ("catalog()", { try ended.catalog() }),
        ("schema(named:)", { try ended.schema(named: schema.name) as Any }),
        ("find", { try ended.find(key, in: schema) { _ in } }), ("count", { try ended.count(rows) }),
        ("fetch", { try ended.fetch(rows).read(from: 0, limit: 1) { _ in } }),
        ("fetch(_:selecting:)", { try ended.fetch(rows, selecting: [0]).read(from: 0, limit: 1) { _ in } }),
        ("aggregate", { try ended.aggregate(AggregateRequest(rows, aggregates: [.count])) }),
        ("define", { try ended.define(schema) }),
        ("buildIndexes", { try ended.buildIndexes(of: schema) }),
        ("insert", { try row.withRow { try ended.insert($0, in: schema) } }),
        ("update", { try row.withRow { try ended.update($0, in: schema) } }),
        ("save", { try row.withRow { try ended.save($0, in: schema) } }),
        ("delete of a key", { try ended.delete(key, in: schema) }),
        ("delete of a request", { try ended.delete(rows) }),
        (
          "update of a request",
          { try ended.update(UpdateRequest(rows, set: [FieldAssignment("balance", .integer(0))])) }
        ),
        ("deleteAll", { try ended.deleteAll(in: schema) }), ("nested", { try ended.nested {} }),
      ]
      for (name, call) in calls {
        try expectError(.closed, "\(name) after the \(commits ? "commit" : "rollback")", call)
      }
      try expect(
        repository.fetch(Account.self).map(\.balance), equals: [1, 2, 3],
        "the records, after calls on an ended transaction")
    }
    if try store.reopen(&repository) {
      try expect(
        repository.fetch(Account.self).map(\.balance), equals: [1, 2, 3], "the records, after reopening")
    }
  }

  @Sendable private static func endedResults(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(
      with: (1...300).map { Account($0, balance: $0 % 7, note: "\($0)") })
    let schema = try Account.schema.model
    let requests = [
      ("in key order", try FetchRequest(schema)),
      ("in the order of an index", try FetchRequest(schema, order: [FieldOrder("balance")])),
      ("sorted without an index", try FetchRequest(schema, order: [FieldOrder("note", isDescending: true)])),
    ]
    for commits in [true, false] {
      let kept = try leaked(from: repository.storage, commits: commits) { transaction in
        var kept = try requests.map { ($0.0, try transaction.fetch($0.1)) }
        kept.append(("selected fields", try transaction.fetch(requests[0].1, selecting: [3])))
        for (name, results) in kept {
          try expect(results.read(from: 0, limit: 2) { _ in }, equals: 2, "rows \(name), in the transaction")
        }
        return kept
      }
      for (name, results) in kept {
        try expectError(.closed, "rows \(name), after the \(commits ? "commit" : "rollback")") {
          try results.read(from: 0, limit: 1) { _ in }
        }
      }
    }
  }

  @Sendable private static func snapshotAfterClose(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    try repository.save(contentsOf: (1...300).map { Account($0, balance: 1) })
    let capabilities = try repository.storage.capabilities
    let schema = try Account.schema.model
    var snapshot: (any StorageSnapshot)? = try repository.storage.snapshot()
    let group = DispatchGroup()
    // Close may wait for the snapshot.
    let closing = WaitingThread(in: group) { try? repository.close() }
    try closing.waitUntilAsleepOrOver()
    if capabilities.isMultiProcess {
      let other = try store.open()
      try other.save(contentsOf: (1...200).map { Account($0, balance: 2) })
      try other.deleteAll(Person.self)
      try other.close()
    }
    let pinned = try require(snapshot, "the snapshot")
    let rows = try RowStore.rows(of: FetchRequest(schema), from: pinned)
    try expect(rows.map { $0[1] }, equals: Array(repeating: .integer(1), count: 300), "rows after close")
    try expect(pinned.count(FetchRequest(schema)), equals: 300, "count after close")
    var found: [PersistentValue] = []
    try expect(
      pinned.find(RecordKey([.integer(7)]), in: schema) { found = try $0.values() }, "find after close")
    try expect(found.dropFirst().first, equals: .integer(1), "the found record, after close")
    try expect(pinned.catalog().map(\.name), equals: ["Account"], "the catalog after close")
    withExtendedLifetime(pinned) { snapshot = nil }
    group.wait()
    try expectError(.closed, "a call on the closed context") { try repository.count(Account.self) }
  }

  @Sendable private static func throwingClosures(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open(.waiting(milliseconds: 2_000))
    try repository.save(contentsOf: (1...300).map { Account($0, balance: $0) })
    let storage = try repository.storage
    let schema = try Account.schema.model
    let key = RecordKey([.integer(7)])
    func expectPassing(_ reader: any StorageReader, _ place: String) throws {
      try expectThrows(SuiteError(), "find of \(place)") {
        try reader.find(key, in: schema) { _ in throw SuiteError() }
      }
      for order in [[], [FieldOrder("note")]] {
        let results = try reader.fetch(FetchRequest(schema, order: order))
        var read = 0
        try expectThrows(SuiteError(), "the rows of \(place), ordered by \(order)") {
          try results.read(from: 0, limit: 300) { _ in
            read += 1
            if read == 200 { throw SuiteError() }
          }
        }
        try expect(
          results.read(from: 0, limit: 300) { _ in }, equals: 300, "the rows of \(place), read once more")
      }
    }
    try expectPassing(storage, "the context")
    try expectPassing(storage.snapshot(), "a snapshot")
    try repository.storage.transaction { transaction in
      try expectPassing(transaction, "a transaction")
      _ = try transaction.delete(key, in: schema)
    }
    try expect(repository.count(Account.self), equals: 299, "after the transaction that caught the errors")
    try repository.save(Account(7, balance: 7))
    try expect(storage.monitor.liveResults, equals: 0, "results that pin a snapshot")
    try repository.close()
  }
}
