import PersistenceCore

/// O2, O4, R1: fetches with a small limit, which a store may answer in one pass.
enum ShortFetchChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "a short fetch has the first records of the whole result, also when it is repeated with other values",
      [.o2, .o4, .v6], firstRecords),
    ConformanceCheck(
      "a short fetch shows the newest commit, also of another context of the store", [.r1], newestCommit),
    ConformanceCheck(
      "a short fetch distinguishes and sorts values of every length around an engine's limits", [.o1, .o2],
      longValues),
    ConformanceCheck(
      "short fetches of several models and shapes in turn, between reads by key, have their own records",
      [.o2, .v6], inTurn),
    ConformanceCheck(
      "an error from decoding a record ends a short fetch with the record's key, and the next fetch is whole",
      [.e2, .r4], decodingErrors),
  ]

  private static let limits = [1, 2, 10, 40, 127, 128]

  @Sendable private static func firstRecords(_ context: ContextUnderTest) throws {
    let people = Person.random(150, seed: 61)
    let repository = try context.makeRepository(with: people)
    let ages = [nil, 20, 35, 60, 95]
    for order in PeopleOrder.all {
      let sorted = people.sorted(by: order.precedes)
      let query = repository.filter(Person.self).sorted(by: order)
      for limit in limits {
        try expect(query.limit(limit).ids(), equals: sorted.prefix(limit).map(\.id), "\(order.criteria)")
      }
      // Requests that differ in values alone follow one another, so that kept plans serve.
      for age in ages {
        let older = sorted.filter { person in age.map { (person.age ?? .min) >= $0 } ?? (person.age == nil) }
        let some = age.map { query.filter(where: \.age >= $0) } ?? query.filter(where: \.age == nil)
        for limit in limits {
          try expect(
            some.limit(limit).ids(), equals: older.prefix(limit).map(\.id), "\(order.criteria), \(limit)")
        }
      }
      for team in ["red", "blue", "no such team"] {
        let own = sorted.filter { $0.team == team }
        let some = query.filter(where: \.team == team)
        try expect(some.limit(7).ids(), equals: own.prefix(7).map(\.id), "\(order.criteria)")
        let high = own.filter { Double.oracle($0.score, 0.5) > 0 && $0.name != "x" }
        let filtered = some.filter(where: \.score > 0.5 && \.name != "x")
        try expect(filtered.limit(7).ids(), equals: high.prefix(7).map(\.id), "\(order.criteria)")
      }
    }
  }

  @Sendable private static func newestCommit(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    try repository.insert(contentsOf: (0..<20).map { Keyed(Int64($0), "label \($0 % 4)") })
    let capabilities = try repository.storage.capabilities
    let other = capabilities.isMultiProcess && capabilities.isDurable ? try store.open() : repository
    let query = repository.filter(Keyed<Int64>.self, where: \.label >= "label 2").sorted(by: \.label).limit(3)
    var expected: [Int64] = [2, 6, 10]
    for round in 0..<12 {
      try expect(query.ids(), equals: expected, "round \(round)")
      try expect(query.ids(), equals: expected, "round \(round)")
      let writer = round.isMultiple(of: 2) ? repository : other
      let new = Int64(-1 - round)
      try writer.save(Keyed(new, "label 2"))
      if round % 3 == 2 {
        try writer.delete(Keyed<Int64>.self, id: new)
      } else {
        expected = Array(([new] + expected).sorted().prefix(3))
      }
    }
    let held = try query.result()
    try other.deleteAll(Keyed<Int64>.self)
    try expect(query.ids(), equals: [])
    // Read at once, so a later commit does not show (R2).
    try expect(held.map(\.id), equals: expected)
  }

  @Sendable private static func longValues(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    let repository = try store.open()
    let sizes = [0, 1, 380, 430, 440, 446, 447, 448, 470, 479, 480, 500, 511, 512, 600, 1500]
    let labels = sizes.flatMap { size in
      ["", "\0", "a", "é"].map { String(repeating: "v", count: size) + $0 }
    }
    let records = labels.enumerated().map { Keyed(Int64($0.offset), $0.element) }
    try repository.insert(contentsOf: records)
    let query = repository.filter(Keyed<Int64>.self)
    let largest = try repository.storage.capabilities.largestKey ?? .max
    let keys = labels.filter { $0.utf8.count <= largest }
    try repository.insert(contentsOf: keys.map { Keyed($0, "same") })
    for isDescending in [false, true] {
      let byKey = keys.sorted { String.oracle($0, $1) < 0 }
      let ordered = isDescending ? byKey.reversed() : byKey
      let whole = repository.filter(Keyed<String>.self)
        .sorted(by: \.id, inOrder: isDescending ? .descending : .ascending)
      for (place, key) in ordered.enumerated() {
        let from = isDescending ? whole.filter(where: \.id <= key) : whole.filter(where: \.id >= key)
        for limit in [1, 4, 9] {
          let expected = ordered.dropFirst(place).prefix(limit).map(\.utf8.count)
          try expect(from.limit(limit).ids().map(\.utf8.count), equals: expected, "\(key.utf8.count) bytes")
        }
      }
      try expect(whole.limit(128).ids(), equals: Array(ordered.prefix(128)))
    }
    for isDescending in [false, true] {
      let sorted = records.sorted { left, right in
        let order = String.oracle(left.label, right.label)
        return isDescending ? order > 0 : order < 0
      }
      let ordered = query.sorted(by: \.label, inOrder: isDescending ? .descending : .ascending)
      for limit in limits {
        try expect(ordered.limit(limit).ids(), equals: sorted.prefix(limit).map(\.id), "\(limit)")
      }
      for label in labels {
        let name = "\(label.utf8.count) bytes"
        let from = sorted.filter { String.oracle($0.label, label) >= 0 }.prefix(5).map(\.id)
        try expect(ordered.filter(where: \.label >= label).limit(5).ids(), equals: from, name)
        let below = sorted.filter { String.oracle($0.label, label) < 0 }.prefix(5).map(\.id)
        try expect(ordered.filter(where: \.label < label).limit(5).ids(), equals: below, name)
        let same = records.filter { String.oracle($0.label, label) == 0 }.map(\.id)
        try expect(ordered.filter(where: \.label == label).limit(5).ids(), equals: same, name)
      }
    }
  }

  @Sendable private static func inTurn(_ context: ContextUnderTest) throws {
    let people = Person.random(60, seed: 62)
    let repository = try context.makeRepository(with: people)
    try repository.insert(contentsOf: (0..<40).map { Keyed(Int64($0), "label \($0 % 8)") })
    try repository.insert(contentsOf: (0..<40).map { Keyed("key \($0 + 10)", "label \($0 % 8)") })
    let byAge = people.sorted(by: PeopleOrder().then(\.age).precedes)
    let byScore = people.sorted(by: PeopleOrder().then(\.score, .descending).precedes)
    for round in 0..<8 {
      let (limit, label) = (round + 1, "label \(round)")
      let all = repository.filter(Person.self).limit(limit)
      try expect(all.sorted(by: \.age).ids(), equals: byAge.prefix(limit).map(\.id))
      let numbers = repository.filter(Keyed<Int64>.self, where: \.label == label).limit(limit)
      try expect(numbers.ids(), equals: (0..<5).map { Int64($0 * 8 + round) }.prefix(limit).map { $0 })
      try expect(repository.find(Person.self, id: people[round].id)?.name, equals: people[round].name)
      try expect(
        all.sorted(by: \.score, inOrder: .descending).ids(), equals: byScore.prefix(limit).map(\.id))
      let texts = repository.filter(Keyed<String>.self, where: \.label == label).limit(limit)
      try expect(texts.ids(), equals: (0..<5).map { "key \($0 * 8 + round + 10)" }.prefix(limit).map { $0 })
      let above = repository.filter(Keyed<Int64>.self, where: \.id >= Int64(round)).limit(limit)
      try expect(above.ids(), equals: (0..<limit).map { Int64(round + $0) })
      try expect(repository.find(Keyed<Int64>.self, id: Int64(round))?.label, equals: label)
    }
  }

  @Sendable private static func decodingErrors(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: (0..<20).map { Keyed(Int64($0), "label \($0)") })
    let query = repository.filter(Keyed<Int64>.self).limit(12)
    for _ in 0..<3 {
      try expect(query.ids(), equals: Array(0..<12))
      let error = try expectError(.unknownCase) { try repository.filter(FewLabels.self).limit(12).result() }
      try expect(error.key, equals: RecordKey([.integer(7)]))
      try expect(repository.filter(FewLabels.self).limit(7).ids(), equals: Array(0..<7))
    }
  }
}

/// A record of the checks above, as a program sees it that knows the first labels only.
private struct FewLabels: PersistentRecord {
  enum Label: String, CaseIterable, PersistentValueConvertible {
    case zero = "label 0"
    case one = "label 1"
    case two = "label 2"
    case three = "label 3"
    case four = "label 4"
    case five = "label 5"
    case six = "label 6"
  }

  var id: Int64
  var label: Label

  static let schema = RecordSchema<FewLabels>(
    "Keyed by Int64", fields: [.field("id", \.id), .field("label", \.label)], key: [\.id],
    indexes: [RecordIndex(\.label)])

  var primaryKey: Int64 { id }

  init(from row: borrowing Row) throws {
    id = try row.decode(at: 0)
    label = try row.decode(at: 1)
  }

  func encode(into row: RowBuffer) throws {
    row.encode(id, at: 0)
    row.encode(label, at: 1)
  }
}
