import OurContexts
import PersistenceConformance
import PersistenceCore
import Testing

@Suite("Models and contexts of another framework")
struct ForeignFrameworkTests {
  private struct SuiteError: Error, Equatable {}

  @Test("E1 an object-graph context rejects a record, and the error names the context")
  func foreignContext() throws {
    let graph = Repository(ObjectGraph())
    let account = Account(1, balance: 1)
    let uses: [(any PersistentRepository) throws -> Void] = [
      { _ = try $0.fetch(Account.self) }, { _ = try $0.count(Account.self) }, { try $0.save(account) },
      { try $0.save(contentsOf: [account]) }, { try $0.write(account) { _ in } }, { try $0.delete(account) },
      { try $0.deleteAll(Account.self) }, { _ = try $0.find(Account.self, id: 1) },
      { _ = try $0.filter(Account.self).result() },
    ]
    func check(_ repository: any PersistentRepository) {
      for use in uses {
        let error = #expect(throws: PersistenceError.self) { try use(repository) }
        #expect(error?.code == .incompatibleContext)
        #expect(error?.message.contains("Account") == true && error?.message.contains("ObjectGraph") == true)
      }
    }
    check(graph)
    try graph.transaction { check($0) }
  }

  @Test("E1 an object-graph model works through the same repository")
  func foreignFramework() throws {
    let graph = Repository(ObjectGraph())
    try graph.save(contentsOf: [Track(2, "Two"), Track(1, "One"), Track(3, "Three")])
    #expect(try graph.fetch(Track.self).map(\.number) == [1, 2, 3])
    let options = FetchOptions<Track>(
      predicate: .hasPrefix(\.title, "T") && !(\.number == 9), sorting: [SortCriterion(\.title)], limit: 1)
    #expect(try graph.fetch(Track.self, options: options).map(\.title) == ["Three"])
    #expect(try graph.count(Track.self, options: FetchOptions(predicate: \.number > 1)) == 2)
    #expect(try graph.write(Track(1, "")) { $0.title = "Uno" }.title == "Uno")
    #expect(throws: SuiteError()) {
      try graph.transaction { store in
        try store.deleteAll(Track.self)
        throw SuiteError()
      }
    }
    #expect(try graph.fetch(Track.self).map(\.title) == ["Uno", "Two", "Three"])
    #expect(try graph.delete(Track(2, "")) && graph.delete(Track(2, "")) == false)
    try graph.transaction { try $0.deleteAll(Track.self) }
    #expect(try graph.count(Track.self) == 0)
  }
}
