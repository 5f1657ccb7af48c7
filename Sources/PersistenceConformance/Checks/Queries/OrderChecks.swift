import Foundation
import PersistenceCore

/// O1 to O4: identity, order and pages.
enum OrderChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("keys can be Int, Int64, String, UUID, or wrappers of them", [.o1], keys),
    ConformanceCheck("a compound key sorts field by field", [.o1, .o2], compositeKeys),
    ConformanceCheck(
      "orders are total: the key breaks ties in the last direction, nil is first ascending and"
        + " last descending", [.o2, .o3], orders),
    ConformanceCheck(
      "a reversed query has the opposite order, with limit, offset and pages", [.o2, .o4], reversed),
    ConformanceCheck(
      "every kind sorts by its own order, nil first ascending and last descending", [.o3, .v4]
    ) { context in for type in SampledTypes.all { try kinds(context, type) } },
  ]

  @Sendable private static func keys(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    func check<Key: PersistentKey & OracleValue & ExactText>(_ keys: [Key]) throws {
      for (number, key) in keys.enumerated() { try repository.insert(Keyed(key, "\(number)")) }
      let sorted = keys.sorted { Key.oracle($0, $1) < 0 }
      try expect(repository.fetch(Keyed<Key>.self).map(\.id.exactText), equals: sorted.map(\.exactText))
      for (number, key) in keys.enumerated() {
        try expect(repository.find(Keyed<Key>.self, id: key)?.label, equals: "\(number)")
        try expect(repository.delete(Keyed<Key>.self, id: key))
        try expect(repository.find(Keyed<Key>.self, id: key) == nil)
        try expect(repository.delete(Keyed<Key>.self, id: key) == false)
      }
      try expect(repository.count(Keyed<Key>.self), equals: 0)
    }
    try check([Int.max, 0, -1, .min, 256, 255, 1 << 32])
    try check(Int64.samples)
    try check(String.samples)
    try check(UUID.samples)
    try check([1, -1, .max, .min].map(WrappedNumber.init))
    try check(WrappedWord.allCases)
  }

  @Sendable private static func compositeKeys(_ context: ContextUnderTest) throws {
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
    try expect(Array(repository.fetch(Seat.self)), equals: seats)
    for seat in seats { try expect(repository.find(Seat.self, id: seat.primaryKey), equals: seat) }
    try expectError(.duplicateKey) { try repository.insert(seats[5]) }
    let byLabel = try repository.filter(Seat.self).sorted(by: \.label, inOrder: .descending).result()
    let expected = seats.indices.sorted { (seats[$0].label, $0) > (seats[$1].label, $1) }.map { seats[$0] }
    try expect(Array(byLabel), equals: expected)
    try expect(pages(of: 7, repository.filter(Seat.self)), equals: seats)
    let byNumber = seats.indices.sorted { (seats[$0].number, $0) > (seats[$1].number, $1) }.map { seats[$0] }
    let descending = repository.filter(Seat.self).sorted(by: \.number, inOrder: .descending)
    try expect(Array(try descending.result()), equals: byNumber)
    try expect(pages(of: 4, descending), equals: byNumber)
    try expect(repository.delete(Seat.self, id: seats[3].primaryKey))
    try expect(repository.count(Seat.self), equals: seats.count - 1)
  }

  @Sendable private static func reversed(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: Person.random(300, seed: 33))
    for order in PeopleOrder.all {
      let query = repository.filter(Person.self).sorted(by: order)
      let expected = Array(try query.ids().reversed())
      let reversed = query.reversed()
      try expect(reversed.ids(), equals: expected, "\(order.criteria)")
      let part = try query.limit(10).offset(3).reversed().result()
      try expect(part.map(\.id), equals: Array(expected.dropFirst(3).prefix(10)))
      try expect(pages(of: 70, reversed).map(\.id), equals: expected, "\(order.criteria)")
      try expect(reversed.reversed().ids(), equals: expected.reversed())
      try expect(reversed.first()?.id == expected.first && reversed.count() == expected.count)
    }
  }

  @Sendable private static func orders(_ context: ContextUnderTest) throws {
    let people = Person.random(300, seed: 31)
    let repository = try context.makeRepository(with: people)
    for order in PeopleOrder.all {
      let expected = people.sorted(by: order.precedes).map(\.id)
      let query = repository.filter(Person.self).sorted(by: order)
      try expect(query.ids(), equals: expected, "\(order.criteria)")
      let some: PersistentPredicate<Person> = \.age > 1 || \.age == nil
      let filtered = people.filter { $0.age.map { $0 > 1 } ?? true }.sorted(by: order.precedes).map(
        \.id)
      try expect(query.filter(where: some).ids(), equals: filtered, "\(order.criteria)")
    }
  }

  private static func kinds<Value: SampledValue>(_ context: ContextUnderTest, _ type: Value.Type) throws {
    let models = Sample<Value>.all(seed: 32)
    let repository = try context.makeRepository(with: models)
    let query = repository.filter(Sample<Value>.self)
    func sorted(_ order: (Sample<Value>, Sample<Value>) -> Int) -> [Int] {
      models.sorted { order($0, $1) == 0 ? $0.id < $1.id : order($0, $1) < 0 }.map(\.id)
    }
    let up = sorted { Value.oracle($0.value, $1.value) }
    try expect(query.sorted(by: \.value).ids(), equals: up)
    try expect(query.sorted(by: \.value, inOrder: .descending).ids(), equals: up.reversed())
    let maybe = sorted { Value?.oracle($0.maybe, $1.maybe) }
    try expect(query.sorted(by: \.maybe).ids(), equals: maybe)
    try expect(query.sorted(by: \.maybe, inOrder: .descending).ids(), equals: maybe.reversed())
    try expect(
      pages(of: 5, query.sorted(by: \.maybe, inOrder: .descending)).map(\.id), equals: maybe.reversed())
  }
}

extension Query where Model: PersistentRecord {
  /// Fetches the keys of the records, in order.
  func ids() throws -> [Model.PrimaryKey] { try result().map(\.primaryKey) }
}

/// Returns all pages of a query, each after the last record of the previous page.
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
