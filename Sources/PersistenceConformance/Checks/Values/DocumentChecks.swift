import Foundation
import PersistenceCore

/// V1 V4a: documents.
enum DocumentChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("nested values are read back unchanged", [.v1, .v2], roundTrip),
    ConformanceCheck("documents are equal whatever the order of their members", [.v4a], equality),
    ConformanceCheck(
      "sets, and dictionaries with any keys, are equal documents in whatever order a process"
        + " iterates them", [.v4a], unordered),
    ConformanceCheck("sorting by a document, or comparing its order, is rejected", [.v4a], noOrder),
  ]

  private static let addresses = [
    Address(street: "", number: 0),
    Address(
      street: "a\0é\u{10FFFF}\"\\/\u{8}", number: .min,
      position: [0.1, -0.0, -.leastNormalMagnitude, .infinity]),
    Address(street: "é", number: 1, notes: ["\u{E9}": "1", "z": nil, "": ""]),
    Address(street: "e\u{301}", number: 1, notes: ["\u{E9}": "1", "z": nil, "": ""]),
    Address(street: "x", number: .max, position: [.greatestFiniteMagnitude, .leastNonzeroMagnitude]),
  ]

  private static func filled(_ context: ContextUnderTest) throws -> (Repository, [AllKinds]) {
    let records = Self.addresses.enumerated().map { number, address in
      var record = AllKinds(id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number))))
      record.address = address
      record.optional.address = number == 1 ? nil : address
      record.list = number == 2 ? ["a", "b"] : []
      return record
    }
    let repository = try context.makeRepository(with: records)
    return (repository, records)
  }

  @Sendable private static func roundTrip(_ context: ContextUnderTest) throws {
    let (repository, records) = try filled(context)
    try expect(repository.fetch(AllKinds.self).map(\.exactText), equals: records.map(\.exactText))
  }

  @Sendable private static func equality(_ context: ContextUnderTest) throws {
    let (repository, records) = try filled(context)
    let query = repository.filter(AllKinds.self)
    for (record, address) in zip(records, Self.addresses) {
      let same: PersistentPredicate<AllKinds> = \.address == address
      try expect(query.filter(where: same).ids(), equals: [record.id])
      try expect(query.filter(where: \.address != address).count(), equals: records.count - 1)
      try expect(query.filter(where: !same).count(), equals: records.count - 1)
    }
    let none: Address? = nil
    try expect(query.filter(where: \.optional.address == none).ids(), equals: [records[1].id])
    try expect(query.filter(where: \.optional.address != none).count(), equals: records.count - 1)
    try expect(query.filter(where: \.optional.address == Self.addresses[2]).count(), equals: 1)
    try expect(query.filter(where: \.list == ["a", "b"]).count(), equals: 1)
    try expect(query.filter(where: \.list == ["b", "a"]).count(), equals: 0)
  }

  @Sendable private static func unordered(_ context: ContextUnderTest) throws {
    /// The same values in another order, as in another process.
    func otherwise<Element: Hashable>(_ set: Set<Element>, capacity: Int) -> Set<Element> {
      var other: Set<Element> = []
      other.reserveCapacity(capacity)
      for element in set { other.insert(element) }
      return other
    }
    let repository = try context.makeStore().open()
    let words = Set((0..<20).map { "\($0 * 7)" } + ["e\u{301}x", "a\"b", "a,b", ""])
    let numbers: Set = [-1, 0, 5, 10, 9, 100]
    for (number, capacity) in [0, 100, 1_000, 5_000].enumerated() {
      try repository.save(Document(number, otherwise(words, capacity: capacity), maybe: ["b"]))
      try repository.save(Document(number, otherwise(numbers, capacity: capacity)))
    }
    for capacity in [0, 200, 10_000] {
      let same = otherwise(words, capacity: capacity)
      let query = repository.filter(Document<Set<String>>.self, where: \.value == same)
      try expect(query.ids(), equals: [0, 1, 2, 3], "\(capacity)")
      let others = repository.filter(
        Document<Set<Int>>.self, where: \.value != otherwise(numbers, capacity: capacity))
      try expect(others.count(), equals: 0, "\(capacity)")
    }
    try expect(
      repository.fetch(Document<Set<String>>.self).map(\.value), equals: Array(repeating: words, count: 4))
    try expect(
      repository.filter(Document<Set<String>>.self, where: \.value == words.subtracting([""])).count(),
      equals: 0)
    try expect(
      repository.filter(Document<Set<Int>>.self, where: \.maybe == nil as Set<Int>?).count(), equals: 4)
    // Keys that are not text are array items, each before its value.
    let pairs = words.enumerated().map { (Double($0.offset) / 4, $0.element) }
    try repository.save(Document(1, Dictionary(uniqueKeysWithValues: pairs)))
    var other: [Double: String] = [:]
    other.reserveCapacity(3_000)
    for (key, value) in pairs.reversed() { other[key] = value }
    try expect(repository.filter(Document<[Double: String]>.self, where: \.value == other).count(), equals: 1)
    try expect(repository.find(Document<[Double: String]>.self, id: 1)?.value, equals: other)
    other[0] = "changed"
    try expect(repository.filter(Document<[Double: String]>.self, where: \.value == other).count(), equals: 0)
  }

  @Sendable private static func noOrder(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let storage = try repository.storage
    let schema = try AllKinds.schema.model
    try expectError(.invalidRequest) { try storage.fetch(FetchRequest(schema, order: [FieldOrder("list")])) }
    try expectError(.invalidRequest) {
      try storage.fetch(FetchRequest(schema, where: .comparison(field: "list", .less, .document("[]"))))
    }
  }
}
