import PersistenceCore

/// R5: interrupted reads.
enum InterruptionChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "an interrupted read throws the error of its interruption, and the store works on", [.r5], interrupted),
    ConformanceCheck(
      "a read that is interrupted midway stops within a thousand records, whatever it computes", [.r5],
      needs: [.writable, .ownEngine], midway
    ).slow,
    ConformanceCheck(
      "reads after many interrupted ones see the newest records", [.r5], needs: [.writable], afterMany),
  ]

  /// A read of accounts, and its answer.
  private struct Read {
    let name: String
    /// Whether an index may hold the answer, so that nothing is examined.
    var mayBeStored = false
    let expected: [[PersistentValue]]
    let answer: (any StorageReader) throws -> [[PersistentValue]]
  }

  private static let error = PersistenceError(.timedOut, "the time of this read has passed")

  private static func account(_ number: Int) -> Account {
    Account(number, balance: number % 7, transfers: number % 5, note: "note \(number)")
  }

  /// Saves accounts, and returns reads that examine each of them.
  private static func reads(of count: Int, in repository: Repository) throws -> [Read] {
    try repository.save(contentsOf: (1...count).map(account))
    let schema = try Account.schema.model
    // No index has the note, and it is that of the last record.
    let rare = PredicateNode.text(field: "note", .contains, "\(count)", isCaseInsensitive: false)
    let indexed = PredicateNode.comparison(field: "balance", .greaterOrEqual, .integer(0))
    let some = try FetchRequest(schema, where: rare)
    let last = account(count)
    let row: [PersistentValue] = [
      .integer(Int64(last.id)), .integer(Int64(last.balance)), .integer(Int64(last.transfers)),
      .text(last.note),
    ]
    func counting(
      _ name: String, _ predicate: PredicateNode, _ found: Int, mayBeStored: Bool = false
    ) throws -> Read {
      let request = try FetchRequest(schema, where: predicate)
      return Read(name: name, mayBeStored: mayBeStored, expected: [[.integer(Int64(found))]]) {
        [[.integer(Int64(try $0.count(request)))]]
      }
    }
    func fetching(_ name: String, order: [FieldOrder]) throws -> Read {
      let request = try FetchRequest(schema, where: rare, order: order)
      return Read(name: name, expected: [row]) { try RowStore.rows(of: request, from: $0) }
    }
    func grouping(_ name: String, by field: String, of groups: Int, mayBeStored: Bool = false) throws -> Read
    {
      let request = try AggregateRequest(
        FetchRequest(schema), grouping: [field], aggregates: [.count])
      let expected = (0..<groups).map { group -> [PersistentValue] in
        [.integer(Int64(group)), .integer(Int64((1...count).count { $0 % groups == group }))]
      }
      return Read(name: name, mayBeStored: mayBeStored, expected: expected) {
        try $0.aggregate(request).map { $0.key + $0.values }
      }
    }
    let total = try AggregateRequest(FetchRequest(schema), aggregates: [.sum(of: "transfers")])
    return [
      try counting("count", rare, 1),
      try counting("count by an index", indexed, count, mayBeStored: true),
      try counting("count by an index and another condition", .all([indexed, rare]), 1),
      try fetching("fetch in key order", order: []),
      try fetching("fetch in the order of an index", order: [FieldOrder("balance")]),
      try fetching("fetch in another order", order: [FieldOrder("transfers")]),
      Read(name: "fetch of selected fields", expected: [[row[0], row[2]]]) { reader in
        var rows: [[PersistentValue]] = []
        _ = try reader.fetch(some, selecting: [0, 2]).read(from: 0, limit: .max) {
          rows.append(try $0.values())
        }
        return rows
      },
      Read(name: "aggregate", expected: [[.integer(Int64((1...count).reduce(0) { $0 + $1 % 5 }))]]) {
        try $0.aggregate(total).map { $0.key + $0.values }
      },
      try grouping("grouping", by: "transfers", of: 5),
      try grouping("grouping by the field of an index", by: "balance", of: 7, mayBeStored: true),
    ]
  }

  @Sendable private static func interrupted(_ context: ContextUnderTest) throws {
    let count = 1100
    let repository = try context.makeStore().open()
    let storage = try repository.storage
    for read in try reads(of: count, in: repository) {
      let interruption = ReadInterruption()
      try expectError(.timedOut, read.name) {
        try interruption.run {
          interruption.request(error)
          return try read.answer(storage)
        }
      }
      let unused = ReadInterruption()
      try expect(
        unused.run { try read.answer(storage) }, equals: read.expected, "\(read.name) after an interruption")
    }
    try repository.save(Account(count + 1, balance: 0))
    try expect(repository.count(Account.self), equals: count + 1, "the records, after interrupted reads")
  }

  @Sendable private static func midway(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    // Enough for a context that checks once for every few thousand records to miss the fourth check.
    let reads = try reads(of: 5000, in: repository)
    let storage = try repository.storage
    func interruptAll(in reader: any StorageReader, _ place: String) throws {
      for read in reads { try expectInterruption(of: read, in: reader, place) }
      try expect(reads[0].answer(reader), equals: reads[0].expected, "\(place), after interrupted reads")
    }
    try interruptAll(in: storage, "the context")
    try interruptAll(in: storage.snapshot(), "a snapshot")
    let changed = Account(1, balance: 1, transfers: 1, note: "written before the reads")
    try repository.storage.transaction { transaction in
      try transaction.save(
        [[.integer(1), .integer(1), .integer(1), .text(changed.note)]], in: Account.schema.model)
      try interruptAll(in: transaction, "a transaction")
    }
    try expect(
      repository.find(Account.self, id: 1), equals: changed,
      "a write of the transaction whose reads were interrupted")
  }

  /// Interrupts a read at its fourth call of `ReadInterruption.check()`, and expects it to stop.
  private static func expectInterruption(
    of read: Read, in reader: any StorageReader, _ place: String
  ) throws {
    let interruption = ReadInterruption(atCheck: 4, error)
    try expectError(.timedOut, "\(read.name) in \(place), interrupted at its fourth check") {
      let found = try interruption.run { try read.answer(reader) }
      // An answer that an index holds takes no scan that could be interrupted.
      if read.mayBeStored, interruption.checkCount <= 1, found == read.expected { throw error }
      return "the whole answer, although 5000 records were examined: check() was called "
        + "\(interruption.checkCount) times"
    }
  }

  /// Ends reads on a thread whose interruption was requested: what ends them must not be interrupted.
  ///
  /// A context may look for interruptions once in hundreds of such ends, by a count of its own.
  @Sendable private static func afterMany(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let storage = try repository.storage
    try repository.save(contentsOf: (1...4).map(account))
    let request = try FetchRequest(Account.schema.model)
    for round in 1...600 {
      let interruption = ReadInterruption()
      try expectError(.timedOut, "the interruption of round \(round)") {
        try interruption.run {
          let results = try storage.fetch(request)
          _ = try results.read(from: 0, limit: 2) { _ in }
          withExtendedLifetime(results) { interruption.request(error) }
          try ReadInterruption.check()
        }
      }
      if round % 20 == 0 { try repository.save(account(4 + round / 20)) }
      try expect(
        storage.count(request), equals: 4 + round / 20, "the count after \(round) interrupted reads")
    }
  }
}
