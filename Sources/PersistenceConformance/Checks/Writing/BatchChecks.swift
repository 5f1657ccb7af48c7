import Foundation
import PersistenceCore
import PersistenceDriverSupport

/// W3, W5: repeated batches.
enum BatchChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a batch that is sent twice is applied once, also after reopening the store", [.w3, .w5],
      needs: [.writable, .durable], reopened),
    ConformanceCheck(
      "a batch that is rolled back leaves no mark and can be sent again", [.w3], rolledBack),
    ConformanceCheck(
      "when many threads send the same batch at once, it is applied once", [.w3, .w6], atOnce),
    ConformanceCheck("the id of a batch cannot be used for another one", [.w3], reused),
    ConformanceCheck("batch ids expire by age and by number, oldest first", [.w3], forgotten),
  ]

  private static func id(_ number: Int) -> UUID {
    UUID(
      uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, UInt8(number >> 8 & 255), UInt8(number & 255)))
  }

  /// Adds one to an account's balance, once for each batch id.
  @discardableResult
  private static func add(_ id: UUID, to storage: any StorageContext, thenThrow error: (any Error)? = nil)
    throws
    -> Bool
  {
    var isNew = false
    try storage.transaction { transaction in
      isNew = try AppliedBatches().record(id, in: transaction)
      guard isNew else { return }
      let schema = try Account.schema.model
      try transaction.define(schema)
      var account = Account(1, balance: 0)
      _ = try transaction.find(account.recordKey, in: schema) { account = try Account(from: $0) }
      account.balance += 1
      let row = RowBuffer(count: schema.fields.count)
      try account.encode(into: row)
      try row.withRow { try transaction.save($0, in: schema) }
      if let error { throw error }
    }
    return isNew
  }

  private static func balance(_ repository: Repository) throws -> Int? {
    try repository.find(Account.self, id: 1)?.balance
  }

  @Sendable private static func reopened(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    for round in 0..<3 {
      let repository = try store.open()
      for number in 0..<10 {
        try expect(
          add(id(number), to: repository.storage) == (round == 0), "batch \(number) in round \(round)")
      }
      try expect(balance(repository), equals: 10)
      try repository.close()
    }
  }

  @Sendable private static func reused(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    func record(_ digest: [UInt8]?) throws -> Bool {
      var isNew = false
      try repository.storage.transaction { transaction in
        isNew = try AppliedBatches().record(id(1), digest: digest, in: transaction)
      }
      return isNew
    }
    try expect(record([1, 2]), "a new batch counted as a repetition")
    try expect(!record([1, 2]), "a batch was applied twice")
    try expect(!record(nil), "a batch without a digest was applied twice")
    do {
      _ = try record([1, 3])
    } catch let error as PersistenceError where error.code == .batchReused {
      return
    }
    try expect(false, "another batch with the same id counted as a repetition")
  }

  @Sendable private static func rolledBack(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try expectThrows(SuiteError()) { try add(id(1), to: repository.storage, thenThrow: SuiteError()) }
    try expect(balance(repository), equals: nil)
    try expect(!AppliedBatches().contains(id(1), in: repository.storage), "a rolled-back batch left its id")
    try expect(add(id(1), to: repository.storage), "a rolled-back batch was rejected when it was sent again")
    try expect(!add(id(1), to: repository.storage), "a batch was applied twice")
    try expect(balance(repository), equals: 1)
  }

  @Sendable private static func atOnce(_ context: ContextUnderTest) throws {
    let storage = try context.makeStore().open().storage
    let outcomes = try Threads.run(4) { _ in
      try (0..<5).filter { try add(id($0), to: storage) }.count
    }
    try expect(outcomes.reduce(0, +), equals: 5)
  }

  @Sendable private static func forgotten(_ context: ContextUnderTest) throws {
    let storage = try context.makeStore().open().storage
    func record(_ number: Int, _ retention: AppliedBatches.Retention, at seconds: Double) throws {
      let batches = AppliedBatches(retention: retention) { Date(timeIntervalSinceReferenceDate: seconds) }
      try storage.transaction { transaction in
        try expect(batches.record(id(number), in: transaction), "batch \(number) counts as applied")
      }
    }
    func known() throws -> [Int] {
      try (0..<100).filter { try AppliedBatches().contains(id($0), in: storage) }
    }
    let five = AppliedBatches.Retention(age: .seconds(100), count: 5)
    for number in 0..<20 { try record(number, five, at: 0) }
    try expect(known(), equals: Array(15..<20))
    try record(20, five, at: 90)
    try record(21, five, at: 101)
    try expect(known(), equals: [20, 21])
    // Even below the limit, expired ids are removed, a few at a time.
    let many = AppliedBatches.Retention(age: .seconds(100), count: 1000)
    for number in 30..<70 { try record(number, many, at: 110) }
    for number in 70..<80 { try record(number, many, at: 300) }
    try expect(known(), equals: Array(70..<80))
  }
}
