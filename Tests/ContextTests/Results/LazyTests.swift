import ContextTestSupport
import Foundation
import PersistenceCore
import Testing

@Suite("R1: lazy results")
struct LazyTests {
  private func observed(_ context: ContextUnderTest, _ count: Int) throws -> (Repository, ObservedContext) {
    let inner = try context.makeStore().open()
    try inner.save(contentsOf: (1...count).map { Account($0, balance: $0 % 10) })
    let observed = ObservedContext(try inner.storage)
    return (Repository(observed), observed)
  }

  @Test("R1 a fetch reads one page, and the first ten of many read no more", arguments: ContextUnderTest.all)
  func firstPage(context: ContextUnderTest) throws {
    let (repository, observed) = try observed(context, 1000)
    let page = PersistentResults<Account>.pageSize
    let all = try repository.fetch(Account.self)
    #expect(observed.rowsRead <= page)
    #expect(all.prefix(10).map(\.id) == Array(1...10))
    #expect(!all.isEmpty && all.first?.id == 1)
    #expect(Array(all.lazy.filter { $0.balance == 3 }.prefix(2)).map(\.id) == [3, 13])
    #expect(observed.rowsRead <= page)
    #expect(all.count == 1000 && all.dropFirst(5).count == 995)
    #expect(observed.rowsRead <= page)
    #expect(all.reduce(0) { $0 + $1.id } == 500_500)
    #expect(observed.rowsRead <= 1000)
    let filtered = try repository.filter(Account.self, where: \.balance == 7).sorted(by: \.balance).result()
    let before = observed.rowsRead
    #expect(filtered.count == 100)
    #expect(observed.rowsRead == before)
  }

  @Test("R1 count, exists and first decode and read no more than they must", arguments: ContextUnderTest.all)
  func counting(context: ContextUnderTest) throws {
    let (repository, observed) = try observed(context, 600)
    #expect(try repository.count(Account.self) == 600)
    #expect(try repository.filter(Account.self, where: \.balance == 7).count() == 60)
    #expect(try repository.filter(Account.self, where: \.balance == 7).exists())
    #expect(observed.rowsRead == 0)
    #expect(try repository.filter(Account.self, where: \.balance == 7).first()?.id == 7)
    #expect(observed.rowsRead == 1)
  }

  @Test(
    "R1 a result that fits into its first page pins nothing; a longer one does, until it is released",
    arguments: ContextUnderTest.all)
  func pins(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(contentsOf: (1...300).map { Account($0, balance: $0 % 10) })
    let monitor = try repository.storage.monitor
    let small = try repository.filter(Account.self, where: \.balance == 1).result()
    #expect(monitor.liveResults == 0)
    var large: PersistentResults<Account>? = try repository.filter(Account.self).result()
    #expect(monitor.liveResults == 1)
    let copy = large
    large = nil
    #expect(monitor.liveResults == 1 && copy?.count == 300 && small.count == 30)
    withExtendedLifetime(copy) {}
  }
}
