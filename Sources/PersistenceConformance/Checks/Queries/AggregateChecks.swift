import Foundation
import PersistenceCore

/// V4: aggregates.
enum AggregateChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "minimum, maximum, sum, average and distinct values cover all records, on every page",
      [.v4, .v6, .o4], ungrouped),
    ConformanceCheck(
      "groups have the records of one value each, in the order of the values, nil first", [.v3, .v4, .o3],
      grouped),
    ConformanceCheck(
      "grouping separates long values with a common prefix, wherever an engine truncates its keys",
      [.v3, .o1], longGroups),
    ConformanceCheck(
      "fields with the names of aggregates are grouped and ordered like others", [.v4, .o3], namesOfFunctions),
    ConformanceCheck(
      "sums are exact and rounded once, so they do not depend on the order of records", [.v4], exactSums),
    ConformanceCheck(
      "averages of integers divide the exact sum, also beyond 2^53", [.v5, .v4], integerAverages),
    ConformanceCheck("a sum or average with a NaN is NaN, and NaN is the maximum", [.v4], notANumber),
    ConformanceCheck("a sum out of its kind's range throws an error", [.v4, .v5], overflow),
    ConformanceCheck("aggregates inside a transaction see its own writes", [.w3], insideTransaction),
    ConformanceCheck(
      "invalid aggregates are rejected, and a model that was never saved gives empty aggregates",
      [.e3, .v4a], rejections),
  ]

  /// Compares the aggregates of a store with the same aggregates in plain Swift.
  @Sendable private static func ungrouped(_ context: ContextUnderTest) throws {
    let people = Person.random(300, seed: 110).sorted { String.oracle($0.id, $1.id) < 0 }
    let repository = try context.makeRepository(with: people)
    let all = repository.filter(Person.self)
    let queries: [(query: Query<Person>, people: [Person])] = [
      (all, people), (all.limit(7).offset(120), Array(people[120..<127])), (all.limit(0), []),
      (all.filter(where: \.team == "red"), people.filter { $0.team == "red" }),
      (all.filter(where: \.age == nil), people.filter { $0.age == nil }),
      (all.after(people[199]), Array(people[200...])),
      (all.sorted(by: \.name).limit(150), Array(people.sorted(by: precedesByName).prefix(150))),
    ]
    for (number, (query, people)) in queries.enumerated() {
      func least<Value: OracleOrder>(_ values: [Value]) -> Value? { values.min { Value.oracle($0, $1) < 0 } }
      func greatest<Value: OracleOrder>(_ values: [Value]) -> Value? {
        values.max { Value.oracle($0, $1) < 0 }
      }
      let (names, ages) = (people.map(\.name), people.compactMap(\.age))
      let what = "query \(number)"
      try expect(query.min(\.name)?.exactText, equals: least(names)?.exactText, what)
      try expect(query.max(\.name)?.exactText, equals: greatest(names)?.exactText, what)
      try expect(query.min(\.age), equals: ages.min(), what)
      try expect(query.max(\.age), equals: ages.max(), what)
      try expect(query.max(\.joined), equals: people.compactMap(\.joined).max(), what)
      try expect(query.min(\.score)?.exactText, equals: least(people.map(\.score))?.exactText, what)
      try expect(
        query.max(\.height)?.exactText, equals: greatest(people.compactMap(\.height))?.exactText, what)
      try expect(query.sum(\.age), equals: ages.reduce(0, +), what)
      let average = ages.isEmpty ? nil : Double(ages.reduce(0, +)) / Double(ages.count)
      try expect(query.average(\.age), equals: average, what)
      let different = Set(names.map { Data($0.utf8) }).sorted { Data.oracle($0, $1) < 0 }
      try expect(query.distinct(\.name).map { Data($0.utf8) }, equals: different, what)
      let differentAges = Set(people.map(\.age)).sorted { Int?.oracle($0, $1) < 0 }
      try expect(query.distinct(\.age), equals: differentAges, what)
    }
  }

  private static func precedesByName(_ left: Person, _ right: Person) -> Bool {
    let order = String.oracle(left.name, right.name)
    return order == 0 ? String.oracle(left.id, right.id) < 0 : order < 0
  }

  @Sendable private static func grouped(_ context: ContextUnderTest) throws {
    let people = Person.random(300, seed: 111)
    let repository = try context.makeRepository(with: people)
    let query = repository.filter(Person.self, where: \.team != "blue")
    let rest = people.filter { $0.team != "blue" }
    let byAge = Dictionary(grouping: rest, by: \.age).sorted { Int?.oracle($0.key, $1.key) < 0 }
    try expect(query.count(by: \.age), equals: byAge.map { Group($0.key, $0.value.count) })
    let grouped = query.grouped(by: \.age)
    let seats = byAge.map { Group($0.key, $0.value.compactMap(\.seat)) }
    try expect(grouped.sum(\.seat), equals: seats.map { Group($0.key, $0.value.reduce(0, +)) })
    try expect(grouped.min(\.seat), equals: seats.map { Group($0.key, $0.value.min()) })
    try expect(grouped.max(\.seat), equals: seats.map { Group($0.key, $0.value.max()) })
    // Both forms of é are separate groups, and all NaNs are one.
    let byName = Dictionary(grouping: rest) { Data($0.name.utf8) }.sorted { Data.oracle($0.key, $1.key) < 0 }
    let names = try query.count(by: \.name)
    try expect(names.map { Data($0.key.utf8) }, equals: byName.map(\.key))
    try expect(names.map(\.value), equals: byName.map(\.value.count))
    let scores = try query.count(by: \.score)
    let nans = rest.filter(\.score.isNaN).count
    try expect(scores.filter(\.key.isNaN).map(\.value), equals: nans == 0 ? [] : [nans])
    try expect(scores.reduce(0) { $0 + $1.value }, equals: rest.count)
    try expect(query.filter(where: \.id == "nobody").count(by: \.age), equals: [])
    let averages = try query.grouped(by: \.team).average(\.age)
    for group in averages {
      let ages = rest.filter { $0.team.utf8.elementsEqual(group.key.utf8) }.compactMap(\.age)
      try expect(group.value, equals: ages.isEmpty ? nil : Double(ages.reduce(0, +)) / Double(ages.count))
    }
  }

  @Sendable private static func longGroups(_ context: ContextUnderTest) throws {
    let schema = try ModelSchema(
      name: "Blob", fields: [FieldSchema("id", .int64), FieldSchema("bytes", .data)], key: ["id"],
      indexes: [IndexSchema(["bytes"])])
    // Engines escape zeros in keys, so a truncated key may end within an escape sequence.
    for start: [UInt8] in [[], [7]] {
      let values = (Array(180..<280) + [1_500]).map { start + [UInt8](repeating: 0, count: $0) }
      let storage = try context.makeStore().open().storage
      try RowStore(storage, schema).save(values.enumerated().map { [.integer(Int64($0)), .bytes($1)] })
      for aggregates in [[], [Aggregate.count]] {
        let groups = try storage.aggregate(
          AggregateRequest(FetchRequest(schema), grouping: ["bytes"], aggregates: aggregates))
        try expect(groups.map(\.key), equals: values.map { [.bytes($0)] })
      }
      for value in values {
        let alone = try FetchRequest(schema, where: .comparison(field: "bytes", .equal, .bytes(value)))
        let groups = try storage.aggregate(AggregateRequest(alone, grouping: ["bytes"], aggregates: [.count]))
        try expect(groups, equals: [AggregateGroup(key: [.bytes(value)], values: [.integer(1)])])
      }
    }
  }

  @Sendable private static func namesOfFunctions(_ context: ContextUnderTest) throws {
    let names = ["count", "min", "max", "sum", "avg", "count_"]
    let schema = try ModelSchema(
      name: "Tally", fields: (["id"] + names).map { FieldSchema($0, .int64) }, key: ["id"])
    let storage = try context.makeStore().open().storage
    try RowStore(storage, schema).save(
      (1...6).map { id in [.integer(id)] + names.map { _ in .integer(id % 2) } })
    let aggregates: [Aggregate] = [
      .count, .minimum(of: "id"), .maximum(of: "id"), .sum(of: "id"), .average(of: "id"),
    ]
    for grouping in names.map({ [$0] }) + [["sum", "count"], names] {
      let groups = try storage.aggregate(
        AggregateRequest(FetchRequest(schema), grouping: grouping, aggregates: aggregates))
      let expected = [
        (0, [.integer(3), .integer(2), .integer(6), .integer(12), .double(4)]),
        (1, [.integer(3), .integer(1), .integer(5), .integer(9), .double(3)]),
      ].map { (value: Int64, results: [PersistentValue]) in
        AggregateGroup(key: grouping.map { _ in .integer(value) }, values: results)
      }
      try expect(groups, equals: expected, "grouped by \(grouping)")
    }
  }

  @Sendable private static func rejections(_ context: ContextUnderTest) throws {
    let refused: [(String, [String], Aggregate)] = [
      ("grouped by a document", ["tags"], .count), ("the minimum of documents", [], .minimum(of: "tags")),
      ("the sum of text", [], .sum(of: "name")), ("the average of a date", [], .average(of: "joined")),
    ]
    for (what, grouping, aggregate) in refused {
      try expectError(.invalidRequest, what) { try self.aggregate(context, grouping: grouping, [aggregate]) }
    }
    try expectError(.unknownField) { try aggregate(context, [.sum(of: "nothing")]) }
    try expectError(.unknownField) { try aggregate(context, grouping: ["nothing"], [.count]) }
    // A model that was never saved has empty aggregates.
    try expect(
      aggregate(context, [.count, .maximum(of: "age")]).map(\.values), equals: [[.integer(0), .null]])
    try expect(aggregate(context, grouping: ["age"], [.count]), equals: [])
  }

  private static func aggregate(
    _ context: ContextUnderTest, grouping: [String] = [], _ aggregates: [Aggregate]
  ) throws -> [AggregateGroup] {
    let request = try AggregateRequest(
      FetchRequest(Person.schema.model), grouping: grouping, aggregates: aggregates)
    return try context.makeStore().open().storage.aggregate(request)
  }

  @Sendable private static func exactSums(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    var random = SeededGenerator(seed: 112)
    // Naive addition in some orders loses the small numbers to rounding; the exact sum is known.
    var numbers = [1e300, 1, -1e300, 1e-300, 1e16, 1, -1e16, .leastNonzeroMagnitude, -1e-300, 0.5]
    for _ in 0..<200 {
      let number = Double(sign: .plus, exponent: random.int(-300...300), significand: 1.5)
      numbers += [number, -number]
    }
    try repository.save(
      contentsOf: numbers.shuffled(using: &random).enumerated().map { number, score in
        let isEven = number.isMultiple(of: 2)
        return Person(
          "\(number)", age: isEven ? Int.max - 1 : Int.min + 2, score: score, height: isEven ? score : nil)
      })
    let query = repository.filter(Person.self)
    try expect(query.sum(\.score).exactText, equals: 2.5.exactText)
    try expect(query.average(\.score)?.exactText, equals: (2.5 / Double(numbers.count)).exactText)
    // The intermediate sums exceed 64 bits, the final sum does not.
    try expect(query.sum(\.age), equals: numbers.count / 2 * (Int.max - 1 + (Int.min + 2)))
    for order in [SortDirection.ascending, .descending] {
      let half = query.sorted(by: \.score, inOrder: order).limit(numbers.count)
      try expect(half.sum(\.score).exactText, equals: 2.5.exactText)
    }
    typealias Priced = Sample<Decimal>
    let prices = [
      "0.1", "0.2", "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999",
      "1e-30",
    ].compactMap { Decimal(string: $0) }
    try repository.save(
      contentsOf: prices.enumerated().map { Priced(id: $0, value: $1, other: $1, maybe: $0 == 2 ? nil : $1) })
    let sum = try repository.filter(Priced.self).sum(\.value)
    try expect(sum, equals: require(Decimal(string: "0.300000000000000000000000000001")))
    try expect(repository.filter(Priced.self).sum(\.perhaps), equals: 0)
    try expect(repository.filter(Priced.self).average(\.perhaps) == nil)
    // Many decimal places, for which Foundation's division returns NaN.
    let small = try require(Decimal(string: "1e-100"))
    try repository.save(Priced(id: 9, value: small, other: small, maybe: small, perhaps: small))
    try expect(repository.filter(Priced.self).sum(\.perhaps), equals: small)
    try expect(repository.filter(Priced.self).average(\.perhaps), equals: small)
  }

  @Sendable private static func notANumber(_ context: ContextUnderTest) throws {
    let scores: [(String, Double)] = [("a", 1), ("b", .infinity), ("c", -.infinity), ("d", .nan), ("e", 2)]
    let repository = try context.makeRepository(
      with: scores.map { Person($0, score: $1, height: $1.isNaN ? nil : $1) })
    let query = repository.filter(Person.self)
    try expect(query.sum(\.score).isNaN && query.average(\.score)?.isNaN == true)
    try expect(query.max(\.score)?.isNaN == true)
    try expect(query.min(\.score), equals: -.infinity)
    try expect(query.max(\.height), equals: .infinity)
    try expect(query.sum(\.height).isNaN, "the sum of both infinities")
    try expect(query.filter(where: \.score > 0 && \.score < .nan).sum(\.score), equals: .infinity)
    try expect(query.filter(where: \.id == "nobody").sum(\.score), equals: 0)
    try expect(query.filter(where: \.id == "nobody").average(\.score) == nil)
    try expect(query.filter(where: \.id == "nobody").min(\.score) == nil)
  }

  @Sendable private static func overflow(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: [
      Account(1, balance: .max), Account(2, balance: 1), Account(3, balance: -1),
    ])
    let query = repository.filter(Account.self)
    try expect(query.sum(\.balance), equals: Int.max)
    let error = try expectError(.valueTooLarge) { try query.filter(where: \.id != 3).sum(\.balance) }
    try expect(error.model == "Account" && error.field == "balance", "\(error)")
    try expect(
      query.filter(where: \.id != 3).average(\.balance),
      equals: Double(sign: .plus, exponent: 62, significand: 1))
  }

  @Sendable private static func insideTransaction(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: (1...200).map { Account($0, balance: $0 % 3) })
    try expectThrows(SuiteError()) {
      try repository.transaction { store in
        try store.filter(Account.self, where: \.balance == 0).delete()
        try store.save(Account(500, balance: 9))
        let query = store.filter(Account.self)
        try expect(query.count(by: \.balance), equals: [Group(1, 67), Group(2, 67), Group(9, 1)])
        try expect(query.max(\.id), equals: 500)
        throw SuiteError()
      }
    }
    let query = repository.filter(Account.self)
    try expect(query.count(by: \.balance), equals: [Group(0, 66), Group(1, 67), Group(2, 67)])
    try expect(query.sum(\.balance), equals: 67 + 134)
  }

  @Sendable private static func integerAverages(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    for (number, balances)
      in ([
        [1 << 53, 1, 1], [1 << 53, 1, 1, 1 << 53, 1], [.max / 2, 3, 3, -(.max / 2)], [.min, .max, 1],
      ] as [[Int]]).enumerated()
    {
      try repository.deleteAll(Account.self)
      try repository.save(contentsOf: balances.enumerated().map { Account($0, balance: $1) })
      let sum = balances.reduce(Int128(0)) { $0 + Int128($1) }
      let expected = Double(sum) / Double(balances.count)
      let what = "the average of \(balances)"
      try expect(repository.filter(Account.self).average(\.balance), equals: expected, what)
      try expect(
        repository.filter(Account.self, where: \.note == "").average(\.balance), equals: expected,
        "\(what), filtered, case \(number)")
    }
  }
}
