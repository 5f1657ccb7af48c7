import ContextTestSupport
import PersistenceCore
import Testing

@Suite("O4: limit, offset and after")
struct PageTests {
  private func filled(_ context: ContextUnderTest) throws -> (Repository, [Person]) {
    let people = Person.random(150, seed: 33)
    let repository = try context.makeStore().open()
    try repository.save(contentsOf: people)
    return (repository, people)
  }

  @Test("O4 pages begun after the last record, put together, are the whole", arguments: ContextUnderTest.all)
  func keysets(context: ContextUnderTest) throws {
    let (repository, people) = try filled(context)
    let some: PersistentPredicate<Person> = \.team != "blue"
    for order in PeopleOrder.all {
      let query = order.criteria.reduce(repository.filter(Person.self)) { $0.sorted(by: $1) }
      let expected = people.sorted { order.precedes($0, $1) }
      #expect(try pages(of: 23, query).map(\.id) == expected.map(\.id), "\(order.criteria)")
      let filtered = expected.filter { $0.team != "blue" }.map(\.id)
      #expect(try pages(of: 40, query.filter(where: some)).map(\.id) == filtered, "\(order.criteria)")
      let middle = expected[70]
      #expect(try query.after(middle).count() == 79, "\(order.criteria)")
      #expect(try query.after(middle).offset(5).limit(3).result().map(\.id) == expected[76..<79].map(\.id))
      #expect(try query.after(expected[149]).result().isEmpty)
    }
  }

  @Test("O4 a page may begin after a record that is not there any more", arguments: ContextUnderTest.all)
  func afterDeleted(context: ContextUnderTest) throws {
    let (repository, people) = try filled(context)
    let order = PeopleOrder().then(\.age, .descending).then(\.name)
    let expected = people.sorted { order.precedes($0, $1) }
    let query = order.criteria.reduce(repository.filter(Person.self)) { $0.sorted(by: $1) }
    try repository.delete(expected[30])
    #expect(try query.after(expected[30]).result().map(\.id) == expected[31...].map(\.id))
    #expect(try query.after(expected[29]).first()?.id == expected[31].id)
  }

  @Test(
    "O4 limit and offset cut after filter and sort, also counting and deleting",
    arguments: ContextUnderTest.all)
  func limitsAndOffsets(context: ContextUnderTest) throws {
    let (repository, people) = try filled(context)
    let order = PeopleOrder().then(\.score, .descending)
    let all = people.filter { $0.team != "red" }.sorted { order.precedes($0, $1) }.map(\.id)
    let query = repository.filter(Person.self, where: \.team != "red").sorted(
      by: \.score, inOrder: .descending)
    for limit in [nil, 0, 1, 5, all.count - 1, all.count, all.count + 1, Int.max] as [Int?] {
      for offset in [0, 1, 7, all.count - 1, all.count, all.count + 1, Int.max] {
        let expected = Array(all.dropFirst(offset).prefix(limit ?? .max))
        let cut = limit.map { query.limit($0) } ?? query
        #expect(try cut.offset(offset).result().map(\.id) == expected)
        #expect(try cut.offset(offset).count() == expected.count)
        #expect(try cut.offset(offset).exists() == !expected.isEmpty)
        #expect(try cut.offset(offset).first()?.id == expected.first)
      }
    }
    #expect(try query.offset(2).limit(3).delete() == 3)
    #expect(try query.result().map(\.id) == Array(all[..<2] + all[5...]))
    #expect(try query.limit(0).delete() == 0)
    #expect(try repository.count(Person.self) == people.count - 3)
  }

  @Test("O4 a negative limit or offset is an error", arguments: ContextUnderTest.all)
  func negative(context: ContextUnderTest) throws {
    let (repository, _) = try filled(context)
    expectError(.invalidRequest) { try repository.filter(Person.self).limit(-1).result() }
    expectError(.invalidRequest) { try repository.filter(Person.self).offset(-1).result() }
    expectError(.invalidRequest) { try repository.filter(Person.self).limit(-1).count() }
    expectError(.invalidRequest) { try repository.filter(Person.self).offset(.min).delete() }
    #expect(try repository.count(Person.self) == 150)
  }
}
