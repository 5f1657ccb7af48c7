import Foundation
import PersistenceCore

/// R1: lazy results.
enum LazyChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "fetch reads one page; taking the first ten of many rows reads no more", [.r1], firstPage),
    ConformanceCheck("count, exists and first decode and read no more rows than needed", [.r1], counting),
    ConformanceCheck(
      "a result of one page pins no snapshot; a longer result pins one until it is released", [.r1], pins),
  ]

  private static func observed(_ context: ContextUnderTest, _ count: Int) throws -> (
    Repository, ObservedContext
  ) {
    let inner = try context.makeRepository(with: (1...count).map { Account($0, balance: $0 % 10) })
    let observed = ObservedContext(try inner.storage)
    return (Repository(observed), observed)
  }

  @Sendable private static func firstPage(_ context: ContextUnderTest) throws {
    let (repository, observed) = try observed(context, 1000)
    let page = PersistentResults<Account>.pageSize
    let all = try repository.fetch(Account.self)
    try expect(observed.rowsRead <= page)
    try expect(all.prefix(10).map(\.id), equals: Array(1...10))
    try expect(!all.isEmpty && all.first?.id == 1)
    try expect(Array(all.lazy.filter { $0.balance == 3 }.prefix(2)).map(\.id), equals: [3, 13])
    try expect(observed.rowsRead <= page)
    try expect(all.count == 1000 && all.dropFirst(5).count == 995)
    try expect(observed.rowsRead <= page)
    try expect(all.reduce(0) { $0 + $1.id }, equals: 500_500)
    try expect(observed.rowsRead <= 1000)
    let filtered = try repository.filter(Account.self, where: \.balance == 7).sorted(by: \.balance).result()
    let before = observed.rowsRead
    try expect(filtered.count, equals: 100)
    try expect(observed.rowsRead, equals: before)
  }

  @Sendable private static func counting(_ context: ContextUnderTest) throws {
    let (repository, observed) = try observed(context, 600)
    try expect(repository.count(Account.self), equals: 600)
    try expect(repository.filter(Account.self, where: \.balance == 7).count(), equals: 60)
    try expect(repository.filter(Account.self, where: \.balance == 7).exists())
    try expect(observed.rowsRead, equals: 0)
    try expect(repository.filter(Account.self, where: \.balance == 7).first()?.id, equals: 7)
    try expect(observed.rowsRead, equals: 1)
  }

  @Sendable private static func pins(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: (1...300).map { Account($0, balance: $0 % 10) })
    let monitor = try repository.storage.monitor
    let small = try repository.filter(Account.self, where: \.balance == 1).result()
    try expect(monitor.liveResults, equals: 0)
    var large: PersistentResults<Account>? = try repository.filter(Account.self).result()
    try expect(monitor.liveResults, equals: 1)
    let copy = large
    large = nil
    try expect(monitor.liveResults == 1 && copy?.count == 300 && small.count == 30)
    withExtendedLifetime(copy) {}
  }
}
