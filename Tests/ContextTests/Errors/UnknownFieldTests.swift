import ContextTestSupport
import PersistenceCore
import Testing

extension Account {
  /// A property that is not stored.
  var double: Int { balance * 2 }
}

@Suite("E2 E3: requests that make no sense")
struct UnknownFieldTests {
  @Test(
    "E3 a key path that is no stored field throws unknownField at fetch, naming it",
    arguments: ContextUnderTest.all)
  func keyPaths(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    for isFilled in [false, true] {
      if isFilled { try repository.save(Account(1, balance: 1)) }
      let errors = [
        expectError(.unknownField) { try repository.filter(Account.self, where: \.double == 2).result() },
        expectError(.unknownField) { try repository.filter(Account.self, where: \.double == 2).count() },
        expectError(.unknownField) { try repository.filter(Account.self, where: \.double == 2).delete() },
        expectError(.unknownField) {
          try repository.filter(Account.self, where: \.balance == \.double).first()
        },
        expectError(.unknownField) {
          try repository.filter(Account.self, where: !(\.id == 1 && .in(\.double, []))).exists()
        },
        expectError(.unknownField) { try repository.filter(Account.self).sorted(by: \.double).result() },
        expectError(.unknownField) {
          try repository.filter(Account.self, where: .contains(\.note.description, "x")).result()
        },
      ]
      for error in errors {
        #expect(error?.model == "Account")
        #expect(error?.field != nil && error?.message.contains("balance") == true)
      }
    }
    #expect(try repository.count(Account.self) == 1)
  }

  @Test(
    "E2 E3 a context that is given requests by hand refuses what no field can be",
    arguments: ContextUnderTest.all)
  func byHand(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(Account(1, balance: 1))
    let storage = try repository.storage
    let schema = try Account.schema.model
    expectError(.unknownField) {
      try storage.fetch(FetchRequest(schema, where: .comparison(field: "nothing", .equal, .integer(1))))
    }
    expectError(.invalidRequest) {
      try storage.fetch(FetchRequest(schema, where: .comparison(field: "balance", .equal, .text("1"))))
    }
    expectError(.invalidRequest) {
      try storage.fetch(
        FetchRequest(schema, where: .text(field: "balance", .contains, "1", isCaseInsensitive: false)))
    }
    expectError(.invalidRequest) { try storage.fetch(FetchRequest(schema, after: PageAnchor([.text("1")]))) }
    expectError(.invalidRequest) { _ = try storage.find(RecordKey([.text("1")]), in: schema) { _ in } }
    expectError(.invalidRequest) { _ = try storage.find(RecordKey([]), in: schema) { _ in } }
    expectError(.invalidRequest) { _ = try storage.find(RecordKey([.null]), in: schema) { _ in } }
    try storage.transaction { transaction in
      expectError(.invalidRequest) {
        try transaction.delete(RecordKey([.integer(1), .integer(2)]), in: schema)
      }
    }
    #expect(try repository.count(Account.self) == 1)
  }

  @Test(
    "E2 a deep predicate is refused, or answered, but does not overflow the stack",
    arguments: ContextUnderTest.all)
  func deepPredicate(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(contentsOf: (1...5).map { Account($0, balance: $0) })
    func nest(_ depth: Int) -> PersistentPredicate<Account> {
      (0..<depth).reduce(\.balance == 3) { predicate, level in
        level.isMultiple(of: 2) ? predicate && !(\.id == -1) : predicate || \.id == -2
      }
    }
    for depth in [30, 200, 450] {
      #expect(try repository.filter(Account.self, where: nest(depth)).result().map(\.id) == [3], "\(depth)")
    }
    expectError(.invalidRequest) { try repository.filter(Account.self, where: nest(5000)).result() }
    let wide = (0..<3000).map { PredicateNode.comparison(field: "id", .equal, .integer(Int64($0 * 5))) }
    let any = PersistentPredicate<Account>(node: .any(wide))
    #expect(try repository.filter(Account.self, where: any).result().map(\.id) == [5])
    #expect(try repository.filter(Account.self, where: !any).count() == 4)
    let many: PersistentPredicate<Account> = .in(\.id, 3...200_000)
    #expect(try repository.filter(Account.self, where: many).result().map(\.id) == [3, 4, 5])
    #expect(try repository.filter(Account.self, where: !many).delete() == 2)
  }
}
