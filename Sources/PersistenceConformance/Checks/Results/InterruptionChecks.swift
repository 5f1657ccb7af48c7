import PersistenceCore

/// R5: interrupted reads.
enum InterruptionChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "an interrupted read throws the error of its interruption, and the store works on", [.r5],
      needs: [.writable], interrupted)
  ]

  /// More records than a context may examine between two checks.
  private static let count = 1500

  @Sendable private static func interrupted(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(contentsOf: (1...count).map { Account($0, balance: $0 % 7, note: "note \($0)") })
    let storage = try repository.storage
    // No index has the note, so each read examines every record.
    let rare = PredicateNode.text(field: "note", .contains, "\(count)", isCaseInsensitive: false)
    let filtered = try FetchRequest(Account.schema.model, where: rare)
    let sorted = try FetchRequest(Account.schema.model, where: rare, order: [FieldOrder("transfers")])
    let reads: [(String, () throws -> Int)] = [
      ("count", { try storage.count(filtered) }),
      ("fetch in key order", { try storage.fetch(filtered).read(from: 0, limit: .max) { _ in } }),
      ("fetch in another order", { try storage.fetch(sorted).read(from: 0, limit: .max) { _ in } }),
    ]
    for (name, read) in reads {
      let interruption = ReadInterruption()
      try expectError(.timedOut, name) {
        try interruption.run {
          interruption.request(PersistenceError(.timedOut, "the time of this read has passed"))
          return try read()
        }
      }
      try expect(read(), equals: 1, "\(name) after an interruption")
      let unused = ReadInterruption()
      try expect(unused.run(read), equals: 1, "\(name), not interrupted")
    }
    try repository.save(Account(count + 1, balance: 0))
    try expect(repository.count(Account.self), equals: count + 1)
  }
}
