import PersistenceCore

/// R1 R3: the rows that results read and the snapshots that they pin.
enum ReleaseChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "for every order and filter, fetch and the first ten rows read at most one page", [.r1], everyOrder),
    ConformanceCheck(
      "slices, iterators, lazy views and erased collections keep the snapshot pinned exactly as"
        + " long as they live", [.r1, .r3], holders),
    ConformanceCheck(
      "iterating a result reads each row once, and cached pages are not read again", [.r1, .r3], readOnce),
    ConformanceCheck(
      "an empty result, and a page beyond the end, are valid collections and pin nothing", [.r3, .o4], empty),
  ]

  private static let count = 600

  private static func filled(_ context: ContextUnderTest) throws -> Repository {
    try context.makeRepository(with: (0..<count).map { Account($0, balance: $0 % 7) })
  }

  @Sendable private static func everyOrder(_ context: ContextUnderTest) throws {
    let observed = ObservedContext(try filled(context).storage)
    let query = Repository(observed).filter(Account.self)
    let queries = [
      query, query.sorted(by: \.id, inOrder: .descending), query.sorted(by: \.balance),
      query.sorted(by: \.note, inOrder: .descending), query.filter(where: \.balance != 3),
      query.filter(where: \.note == "").sorted(by: \.transfers), query.offset(300), query.limit(400),
      query.filter(where: .contains(\.note, "")).sorted(by: \.balance, inOrder: .descending),
    ]
    for query in queries {
      let before = observed.rowsRead
      let result = try query.result()
      let what = "\(query.options)"
      try expect(observed.rowsRead - before <= PersistentResults<Account>.pageSize, what)
      try expect(result.prefix(10).count == 10 && !result.isEmpty && result.first != nil, what)
      try expect(Array(result.lazy.map(\.id).prefix(5)).count, equals: 5, what)
      try expect(observed.rowsRead - before <= PersistentResults<Account>.pageSize, what)
    }
  }

  @Sendable private static func holders(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    let monitor = try repository.storage.monitor
    func expectHeld<Holder>(_ what: String, _ make: (PersistentResults<Account>) -> Holder) throws {
      try expect(monitor.liveResults, equals: 0, "before \(what)")
      var holder: Holder? = make(try repository.filter(Account.self).result())
      try expect(monitor.liveResults, equals: 1, what)
      withExtendedLifetime(holder) {}
      holder = nil
      try expect(monitor.liveResults, equals: 0, "after \(what)")
    }
    try expectHeld("a result") { $0 }
    try expectHeld("a slice") { $0.dropFirst(500) }
    try expectHeld("an iterator in the middle") { result in
      var iterator = result.makeIterator()
      for _ in 0..<200 { _ = iterator.next() }
      return iterator
    }
    try expectHeld("a lazy view") { $0.lazy.filter { $0.balance == 2 } }
    try expectHeld("a reversed view") { $0.reversed() as ReversedCollection<PersistentResults<Account>> }
    try expectHeld("an erased collection") { AnyCollection($0) }
    for account in try repository.filter(Account.self).result() where account.id == 300 { break }
    try expect(monitor.liveResults, equals: 0, "an abandoned loop")
    _ = try? repository.filter(Account.self).result().forEach { if $0.id == 300 { throw SuiteError() } }
    try expect(monitor.liveResults, equals: 0, "an iteration that threw")
    try repository.transaction { store in
      let inside = try store.filter(Account.self).result()
      try expect(inside.count == count && monitor.liveResults == 0, "a result inside a transaction")
    }
  }

  @Sendable private static func readOnce(_ context: ContextUnderTest) throws {
    let observed = ObservedContext(try filled(context).storage)
    let repository = Repository(observed)
    for query in [repository.filter(Account.self), repository.filter(Account.self).sorted(by: \.note)] {
      let before = observed.rowsRead
      let result = try query.result()
      var read = 0
      for account in result {
        try expect(account.id, equals: read)
        read += 1
      }
      try expect(read, equals: count)
      try expect(
        observed.rowsRead - before <= count,
        "one iteration reads \(observed.rowsRead - before) of \(count) rows")
      let place = result.index(result.startIndex, offsetBy: 300)
      _ = result[place]
      let settled = observed.rowsRead
      for _ in 0..<50 { try expect(result[place].id, equals: 300) }
      try expect(observed.rowsRead, equals: settled, "the same position again")
      try expect(result.count == count && result.distance(from: place, to: result.endIndex) == count - 300)
      try expect(observed.rowsRead, equals: settled, "counting")
    }
  }

  @Sendable private static func empty(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    let monitor = try repository.storage.monitor
    let query = repository.filter(Account.self)
    let queries = [
      query.filter(where: \.balance == 99), query.limit(0), query.offset(count), query.offset(.max),
      query.after(Account(count, balance: 0)), query.filter(where: .in(\.id, [])).sorted(by: \.balance),
      query.filter(where: \.balance > 3 && \.balance < 2),
    ]
    for query in queries {
      let result = try query.result()
      let what = "\(query.options)"
      try expect(result.isEmpty && result.count == 0 && result.first == nil && result.last == nil, what)
      try expect(result.startIndex == result.endIndex && Array(result).isEmpty, what)
      try expect(result.reversed().isEmpty && result.prefix(3).isEmpty && result.suffix(3).isEmpty, what)
      try expect(result.indices.isEmpty && result.lazy.map(\.id).isEmpty, what)
      try expect(result.index(result.startIndex, offsetBy: 1, limitedBy: result.endIndex) == nil, what)
      try expect(monitor.liveResults, equals: 0, what)
      try expect(AnyCollection(result).isEmpty, what)
    }
  }
}
