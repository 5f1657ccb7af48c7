import PersistenceCore

/// W5: reopened stores.
enum ReopenChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a store reopened after each of many transactions keeps their records and index entries",
      [.w5, .w3], needs: [.writable, .durable], closed),
    ConformanceCheck(
      "a store that was not closed reopens with every committed record", [.w5],
      needs: [.writable, .durable], dropped),
    ConformanceCheck(
      "records that were rolled back are still absent after reopening", [.w5, .w3],
      needs: [.writable, .durable], rolledBack),
  ]

  @Sendable private static func closed(_ context: ContextUnderTest) throws {
    let script = CommitScript(seed: context.seed ?? 74)
    let store = try context.makeStore()
    var state = CommitScript.State()
    for number in 1...context.effort.times(25, thorough: 300) {
      let repository = try store.open()
      try script.apply(number, to: repository)
      try script.apply(number, to: &state)
      try repository.close()
      let again = try store.open(.readOnly)
      try expect(CommitScript.read(again), equals: state, "after \(number) transactions")
      try again.close()
    }
  }

  @Sendable private static func dropped(_ context: ContextUnderTest) throws {
    let script = CommitScript(seed: context.seed ?? 75)
    let store = try context.makeStore()
    for round in 0..<3 {
      let repository = try store.open()
      for number in 1...4 { try script.apply(round * 4 + number, to: repository) }
    }
    try expect(CommitScript.read(store.open()), equals: script.state(after: 12))
  }

  @Sendable private static func rolledBack(_ context: ContextUnderTest) throws {
    let script = CommitScript(seed: context.seed ?? 76)
    let store = try context.makeStore()
    let repository = try store.open()
    for number in 1...6 { try script.apply(number, to: repository) }
    try expectThrows(SuiteError()) {
      try repository.transaction { inside in
        try inside.deleteAll(Account.self)
        try inside.save(contentsOf: (0..<300).map { Account($0, balance: -5) })
        try inside.deleteAll(Person.self)
        throw SuiteError()
      }
    }
    try repository.close()
    try expect(CommitScript.read(store.open()), equals: script.state(after: 6))
  }
}
