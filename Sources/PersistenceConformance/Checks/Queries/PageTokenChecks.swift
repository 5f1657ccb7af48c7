import Foundation
import PersistenceCore

/// O4 E1: pages that continue later.
enum PageTokenChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "pages fetched by tokens cover the whole result, also when earlier records have been deleted", [.o4],
      pages),
    ConformanceCheck(
      "a token survives encoding, and is rejected by another query, by another store, or if malformed",
      [.e1, .o4], bindings),
    ConformanceCheck(
      "a token for a filter with a list of values is valid for those values in any order", [.o4], lists),
    ConformanceCheck(
      "a token stays valid after the store is reopened", [.o4], needs: [.writable, .durable], reopened),
  ]

  @Sendable private static func pages(_ context: ContextUnderTest) throws {
    let people = Person.random(150, seed: 140)
    let repository = try context.makeRepository(with: people)
    for (number, order) in PeopleOrder.all.enumerated() {
      let query = repository.filter(Person.self, where: \.team != "blue").sorted(by: order)
      let expected = people.filter { $0.team != "blue" }.sorted(by: order.precedes).map(\.id)
      for size in [1, 7, expected.count - 1, expected.count, expected.count + 1]
      where size > 1 || order.criteria.isEmpty {
        var page = try query.limit(size).page()
        var found = page.models.map(\.id)
        while let next = page.next {
          page = try query.limit(size).after(next).page()
          try expect(!page.models.isEmpty, "a page of \(size) after a token")
          found += page.models.map(\.id)
        }
        try expect(found, equals: expected, "pages of \(size) by \(order.criteria)")
      }
      // Deletes affect all index pages alike, so the first few orders are enough.
      guard number < 4 else { continue }
      let first = try query.limit(20).page()
      let next = try require(first.next)
      try repository.transaction { store in for person in first.models { try store.delete(person) } }
      try expect(query.after(next).ids(), equals: Array(expected[20...]), "\(order.criteria)")
      try expect(query.after(next).count(), equals: expected.count - 20)
      try repository.save(contentsOf: first.models)
    }
    let everything = try repository.filter(Person.self).page()
    try expect(everything.models.count == people.count && everything.next == nil)
  }

  @Sendable private static func bindings(_ context: ContextUnderTest) throws {
    let people = Person.random(40, seed: 141)
    let repository = try context.makeRepository(with: people)
    let query = repository.filter(Person.self, where: \.score < 1).sorted(by: \.height)
    let token = try require(query.limit(5).page().next)
    let coded = try JSONEncoder().encode([token])
    try expect(JSONDecoder().decode([PageToken].self, from: coded), equals: [token])
    let again = PageToken(text: "\(token)")
    try expect(
      query.limit(3).after(again).ids(), equals: Array(query.result().dropFirst(5).prefix(3)).map(\.id))
    let others = [
      repository.filter(Person.self), repository.filter(Person.self, where: \.score < 2).sorted(by: \.height),
      repository.filter(Person.self, where: \.score < 1).sorted(by: \.height, inOrder: .descending),
      query.sorted(by: \.age),
    ]
    for (number, other) in others.enumerated() {
      try expectError(.invalidRequest, "query \(number)") { try other.after(token).result() }
      try expectError(.invalidRequest, "query \(number)") { try other.after(token).count() }
    }
    try expectError(.invalidRequest) { try repository.filter(Account.self).after(token).result() }
    for text in ["", "x", "e30", "\(token)x", String("\(token)".dropLast(3))] {
      try expectError(.invalidRequest, text) { try query.after(PageToken(text: text)).result() }
    }
    let second = try context.makeStore().open()
    try second.save(contentsOf: people)
    let elsewhere = second.filter(Person.self, where: \.score < 1).sorted(by: \.height)
    let error = try expectError(.incompatibleContext) { try elsewhere.after(token).result() }
    try expect(error.model, equals: "Person")
    let rest = try query.after(token).ids()
    try repository.transaction { store in
      let inside = store.filter(Person.self, where: \.score < 1).sorted(by: \.height)
      try expect(inside.after(token).ids(), equals: rest)
    }
  }

  @Sendable private static func lists(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: (1...60).map { Account($0, balance: $0 % 7) })
    func query(_ balances: [Int]) -> Query<Account> {
      repository.filter(Account.self, where: .in(\.balance, balances))
    }
    let expected = try query([1, 2, 5]).ids()
    let token = try require(query([5, 1, 2]).limit(10).page().next)
    for balances in [[1, 2, 5], [2, 5, 1], [5, 5, 2, 1, 2]] {
      try expect(query(balances).after(token).ids(), equals: Array(expected[10...]))
    }
    for balances in [[1, 2], [1, 2, 5, 6], [1, 2, 4]] {
      try expectError(.invalidRequest) { try query(balances).after(token).result() }
    }
  }

  @Sendable private static func reopened(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    try repository.save(contentsOf: (1...60).map { Account($0, balance: $0 % 7) })
    func query(_ repository: Repository) -> Query<Account> {
      repository.filter(Account.self, where: \.balance != 3).sorted(by: \.balance, inOrder: .descending)
    }
    let expected = try query(repository).ids()
    let token = try require(query(repository).limit(10).page().next)
    try repository.close()
    let again = try store.open()
    try expect(query(again).after(token).ids(), equals: Array(expected[10...]))
  }
}
