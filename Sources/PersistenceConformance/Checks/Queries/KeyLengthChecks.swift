import PersistenceCore

/// O1: keys of every length, and keys of several parts.
enum KeyLengthChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "keys of every length around an engine's limits that differ only at the end are"
        + " distinguished and sorted", [.o1, .o2, .v3], lengths),
    ConformanceCheck(
      "a key longer than the context's limit throws valueTooLarge, and nothing changes", [.o1, .e2], tooLong),
    ConformanceCheck(
      "keys whose parts have the same concatenation are different records", [.o1, .o2, .e6], parts),
    ConformanceCheck(
      "visually similar keys are different records for insert, update, write and delete", [.o1, .w1, .v3],
      lookalikes),
  ]

  private static let sizes = [0, 1, 2, 255, 256, 510, 511, 512, 513, 1000, 1024, 5000]

  /// For each length: the key, its neighbors in the last byte, and its prefixes.
  private static func keys(upTo largest: Int) -> [String] {
    let ascii = sizes.flatMap { size -> [String] in
      let stem = String(repeating: "k", count: size)
      return [stem, stem + "\0", stem + "A", stem + "a"]
    }
    // A scalar that spans the byte at which an engine truncates.
    let wide = [509, 510].flatMap { size -> [String] in
      let stem = String(repeating: "k", count: size)
      return ["\u{10FFFF}", "\u{20AC}", "\u{20AC}x", "é", "e\u{301}", "\u{E000}"].map { stem + $0 }
    }
    return Set((ascii + wide).map { Array($0.utf8) }).map { String(decoding: $0, as: UTF8.self) }
      .filter { $0.utf8.count <= largest }.sorted { String.oracle($0, $1) < 0 }
  }

  /// Identifies a long key in messages.
  private static func name(_ key: String) -> String {
    "the key of \(key.utf8.count) bytes that ends in \(String(key.unicodeScalars.suffix(2)).exactText)"
  }

  @Sendable private static func lengths(_ context: ContextUnderTest) throws {
    let store = try context.makeStore()
    var repository = try store.open()
    let keys = keys(upTo: try repository.storage.capabilities.largestKey ?? .max)
    var random = SeededGenerator(seed: 73)
    try repository.insert(contentsOf: keys.shuffled(using: &random).map { Keyed($0, "same") })
    try store.reopen(&repository)
    let query = repository.filter(Keyed<String>.self)
    try expect(query.result().map { name($0.id) }, equals: keys.map(name))
    try expect(query.sorted(by: \.label).result().map { name($0.id) }, equals: keys.map(name))
    try expect(
      query.sorted(by: \.label, inOrder: .descending).result().map { name($0.id) },
      equals: keys.reversed().map(name))
    try expect(pages(of: 19, query).map { name($0.id) }, equals: keys.map(name))
    try expect(pages(of: 23, query.sorted(by: \.label)).map { name($0.id) }, equals: keys.map(name))
    for (place, key) in keys.enumerated() {
      try expect(repository.find(Keyed<String>.self, id: key)?.id.exactText, equals: key.exactText, name(key))
      try expectError(.duplicateKey, name(key)) { try repository.insert(Keyed(key, "again")) }
      guard place % 4 == 1 else { continue }
      try expect(query.filter(where: \.id == key).count(), equals: 1, name(key))
      try expect(query.filter(where: \.id < key).count(), equals: place, name(key))
      try expect(query.filter(where: \.id >= key).first()?.id.exactText, equals: key.exactText, name(key))
      try expect(
        query.after(Keyed(key, "same")).first().map { name($0.id) },
        equals: keys.dropFirst(place + 1).first.map(name))
    }
    for (place, key) in keys.enumerated() where place.isMultiple(of: 2) {
      try repository.update(Keyed(key, "changed"))
    }
    for (place, key) in keys.enumerated() where !place.isMultiple(of: 2) {
      try expect(repository.delete(Keyed<String>.self, id: key), name(key))
    }
    let kept = keys.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
    try expect(query.filter(where: \.label == "changed").result().map { name($0.id) }, equals: kept.map(name))
    try expect(query.count(), equals: kept.count)
  }

  @Sendable private static func tooLong(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.insert(Keyed("", "kept"))
    let largest = try repository.storage.capabilities.largestKey
    let size = min(largest ?? .max, 100_000)
    let longest = Keyed(String(repeating: "k", count: size), "the longest")
    try repository.insert(longest)
    try expect(repository.find(Keyed<String>.self, id: longest.id)?.label, equals: "the longest")
    try expect(repository.fetch(Keyed<String>.self).map(\.label), equals: ["kept", "the longest"])
    // With no limit except memory, or an extreme one, no key is too long to try.
    guard let largest, largest < 1 << 24 else { return }
    let tooLong = Keyed(String(repeating: "k", count: largest + 1), "too long")
    for write in [repository.insert, repository.save] as [(Keyed<String>) throws -> Void] {
      let error = try expectError(.valueTooLarge) { try write(tooLong) }
      try expect(error.model, equals: try Keyed<String>.schema.model.name)
    }
    try expect(repository.fetch(Keyed<String>.self).map(\.label), equals: ["kept", "the longest"])
  }

  @Sendable private static func parts(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let schema = try ModelSchema(
      name: "Parts",
      fields: [
        FieldSchema("label", .int64), FieldSchema("second", .string), FieldSchema("first", .string),
        FieldSchema("third", .int64),
      ], key: ["first", "second", "third"],
      indexes: [IndexSchema(["second", "first"]), IndexSchema(["first", "label"], isUnique: true)])
    let rows = RowStore(try repository.storage, schema)
    let long = String(repeating: "l", count: 511)
    let words = [
      "", "\0", "\0\0", "a", "a\0", "a\0\u{1}", "ab", "b", "/", "a/", ",", "a,", "\u{10FFFF}", long,
      long + "a", long + long,
    ]
    var keys: [(String, String, Int64)] = []
    for first in words {
      for second in words { for third in [Int64.min, -1, 0, 256] { keys.append((first, second, third)) } }
    }
    keys.sort { left, right in
      let orders = [
        String.oracle(left.0, right.0), String.oracle(left.1, right.1), Int64.oracle(left.2, right.2),
      ]
      return orders.first { $0 != 0 }.map { $0 < 0 } ?? false
    }
    let all = keys.enumerated().map { number, key -> [PersistentValue] in
      [.integer(Int64(number)), .text(key.1), .text(key.0), .integer(key.2)]
    }
    try rows.save(all.reversed())
    func labels(_ rows: [[PersistentValue]]) -> [String] { rows.map { "\($0[0])" } }
    let expected = labels(all)
    try expect(labels(rows.rows()), equals: expected)
    let bySecond = keys.indices.sorted { left, right in
      let order = String.oracle(keys[left].1, keys[right].1)
      return order == 0 ? left < right : order < 0
    }
    try expect(labels(rows.rows(order: [FieldOrder("second")])), equals: bySecond.map { "\($0)" })
    for (number, key) in keys.enumerated() where number % 3 != 1 {
      let values: [PersistentValue] = [.text(key.0), .text(key.1), .integer(key.2)]
      try expect(rows.find(values)?[0], equals: .integer(Int64(number)), "the key \(number)")
      if number % 3 == 0 { try expect(rows.delete(values), "the key \(number)") }
    }
    try expect(labels(rows.rows()), equals: expected.indices.filter { $0 % 3 != 0 }.map { "\($0)" })
  }

  @Sendable private static func lookalikes(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let alike = [
      "a", "A", "a ", " a", "a\0", "á", "a\u{301}", "ａ", "а", "1", "01", "1.0", "+1", "nil", "NULL",
      "\u{FEFF}a",
    ]
    for (number, key) in alike.enumerated() {
      let what = "the key \(key.exactText)"
      try expectError(.notFound, what) { try repository.update(Keyed(key, "")) }
      try expectError(.notFound, what) { try repository.write(Keyed<String>.self, id: key) { $0.label = "" } }
      try expect(repository.delete(Keyed<String>.self, id: key) == false, what)
      try repository.insert(Keyed(key, "\(number)"))
      try expectError(.duplicateKey, what) { try repository.insert(Keyed(key, "")) }
    }
    for (number, key) in alike.enumerated() {
      let what = "the key \(key.exactText)"
      try expect(
        repository.write(Keyed<String>.self, id: key) { $0.label += "!" }.label, equals: "\(number)!", what)
      try expect(
        repository.filter(Keyed<String>.self, where: \.label == "\(number)!").count(), equals: 1, what)
    }
    for (number, key) in alike.enumerated() {
      try expect(repository.delete(Keyed<String>.self, id: key), "the key \(key.exactText)")
      try expect(repository.count(Keyed<String>.self), equals: alike.count - number - 1)
    }
  }
}
