import ContextTestSupport
import Foundation
import PersistenceCore
import Testing

@Suite("O1 to O4: identity, order and pages")
struct OrderTests {
  @Test("O1 keys are Int, Int64, String, UUID, or wrap one", arguments: ContextUnderTest.all)
  func keys(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    func check<Key: PersistentKey & OracleValue & ExactText>(_ keys: [Key]) throws {
      for (number, key) in keys.enumerated() { try repository.insert(Keyed(key, "\(number)")) }
      let sorted = keys.sorted { Key.oracle($0, $1) < 0 }
      #expect(try repository.fetch(Keyed<Key>.self).map(\.id.exactText) == sorted.map(\.exactText))
      for (number, key) in keys.enumerated() {
        #expect(try repository.find(Keyed<Key>.self, id: key)?.label == "\(number)")
        #expect(try repository.delete(Keyed<Key>.self, id: key))
        #expect(try repository.find(Keyed<Key>.self, id: key) == nil)
        #expect(try repository.delete(Keyed<Key>.self, id: key) == false)
      }
      #expect(try repository.count(Keyed<Key>.self) == 0)
    }
    try check([Int.max, 0, -1, .min, 256, 255, 1 << 32])
    try check(Int64.samples)
    try check(String.samples)
    try check(UUID.samples)
    try check([1, -1, .max, .min].map(WrappedNumber.init))
    try check(WrappedWord.allCases)
  }

  @Test("O1 O2 a key of several fields orders field by field", arguments: ContextUnderTest.all)
  func compositeKeys(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    var random = SeededGenerator(seed: 30)
    let halls = UUID.samples.prefix(3)
    var seats: [Seat] = []
    for hall in halls {
      for row in ["", "A", "A\0", "AB", "a"] {
        for number in [Int.min, -1, 0, 7, 255, 256] {
          seats.append(Seat(hall: hall, row: row, number: number, label: "\(random.int(0...3))"))
        }
      }
    }
    try repository.insert(contentsOf: seats.shuffled(using: &random))
    #expect(try Array(repository.fetch(Seat.self)) == seats)
    for seat in seats { #expect(try repository.find(Seat.self, id: seat.primaryKey) == seat) }
    expectError(.duplicateKey) { try repository.insert(seats[5]) }
    let byLabel = try repository.filter(Seat.self).sorted(by: \.label, inOrder: .descending).result()
    let expected = seats.indices.sorted { (seats[$0].label, $0) > (seats[$1].label, $1) }.map { seats[$0] }
    #expect(Array(byLabel) == expected)
    #expect(try pages(of: 7, repository.filter(Seat.self)) == seats)
    let byNumber = seats.indices.sorted { (seats[$0].number, $0) > (seats[$1].number, $1) }.map { seats[$0] }
    let descending = repository.filter(Seat.self).sorted(by: \.number, inOrder: .descending)
    #expect(Array(try descending.result()) == byNumber)
    #expect(try pages(of: 4, descending) == byNumber)
    #expect(try repository.delete(Seat.self, id: seats[3].primaryKey))
    #expect(try repository.count(Seat.self) == seats.count - 1)
  }

  @Test(
    "O2 O3 orders are total: ties by key in the last direction, nil first ascending and last descending",
    arguments: ContextUnderTest.all)
  func orders(context: ContextUnderTest) throws {
    let people = Person.random(300, seed: 31)
    let repository = try context.makeStore().open()
    try repository.save(contentsOf: people)
    for order in PeopleOrder.all {
      let expected = people.sorted { order.precedes($0, $1) }.map(\.id)
      let query = order.criteria.reduce(repository.filter(Person.self)) { $0.sorted(by: $1) }
      #expect(try query.result().map(\.id) == expected, "\(order.criteria)")
      let some: PersistentPredicate<Person> = \.age > 1 || \.age == nil
      let filtered = people.filter { $0.age.map { $0 > 1 } ?? true }.sorted { order.precedes($0, $1) }.map(
        \.id)
      #expect(try query.filter(where: some).result().map(\.id) == filtered, "\(order.criteria)")
    }
  }

  @Test(
    "O3 V4 every kind sorts by its order, nil first, and last when descending",
    arguments: ContextUnderTest.all, SampledKind.all)
  func kinds(context: ContextUnderTest, kind: SampledKind) throws {
    func check<Value: Sampled & OracleValue & ExactText>(_ type: Value.Type) throws {
      let repository = try context.makeStore().open()
      let models = Sample<Value>.all(seed: 32)
      try repository.save(contentsOf: models)
      let query = repository.filter(Sample<Value>.self)
      func sorted(_ order: (Sample<Value>, Sample<Value>) -> Int) -> [Int] {
        models.sorted { order($0, $1) == 0 ? $0.id < $1.id : order($0, $1) < 0 }.map(\.id)
      }
      let up = sorted { Value.oracle($0.value, $1.value) }
      #expect(try query.sorted(by: \.value).result().map(\.id) == up)
      #expect(try query.sorted(by: \.value, inOrder: .descending).result().map(\.id) == up.reversed())
      let maybe = sorted { Value?.oracle($0.maybe, $1.maybe) }
      #expect(try query.sorted(by: \.maybe).result().map(\.id) == maybe)
      #expect(try query.sorted(by: \.maybe, inOrder: .descending).result().map(\.id) == maybe.reversed())
      #expect(try pages(of: 5, query.sorted(by: \.maybe, inOrder: .descending)).map(\.id) == maybe.reversed())
    }
    try check(kind.type)
  }
}

/// All pages of a query, each begun after the last record of the one before.
func pages<Model: PersistentRecord>(of size: Int, _ query: Query<Model>) throws -> [Model] {
  var pages: [Model] = []
  var next = query.limit(size)
  while true {
    let page = Array(try next.result())
    pages += page
    guard page.count == size, let last = page.last else { return pages }
    next = query.limit(size).after(last)
  }
}
