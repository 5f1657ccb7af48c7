import PersistenceCore

/// O1, W4: keys and unique values of several texts.
enum CompoundKeyChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "the parts of a compound key are separate, whatever their values, and sort in sequence", [.o1, .o2],
      keys),
    ConformanceCheck(
      "the parts of a compound unique index are separate, whatever their values", [.w4], unique),
  ]

  /// Pairs whose concatenated parts are equal, with any of these separators or none.
  private static let pairs: [[PersistentValue]] = {
    var pairs: [(String, String)] = [("", ""), ("ab", ""), ("", "ab"), ("a", "b"), ("b", "a")]
    for mark in ["|", "\0", "/", ",", ":", ";", "-", "_", ".", "\\", "\"", "'", "#", "\u{1}", "\u{1F}", "%"] {
      pairs += [
        ("a\(mark)b", "c"), ("a", "b\(mark)c"), ("\(mark)", ""), ("", "\(mark)"), ("a\(mark)", "b"),
        ("a", "\(mark)b"),
      ]
    }
    return pairs.map { [.text($0.0), .text($0.1)] }
  }()

  @Sendable private static func keys(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let schema = try ModelSchema(
      name: "Pair",
      fields: [FieldSchema("label", .int64), FieldSchema("b", .string), FieldSchema("a", .string)],
      key: ["a", "b"])
    let store = RowStore(try repository.storage, schema)
    try store.save(pairs.enumerated().map { [.integer(Int64($0)), $1[1], $1[0]] })
    for (number, pair) in pairs.enumerated() {
      try expect(store.find(pair)?.first, equals: .integer(Int64(number)), "\(pair)")
    }
    let sorted = pairs.indices.sorted { RecordKey(pairs[$0]) < RecordKey(pairs[$1]) }
    try expect(store.rows().map { $0[0] }, equals: sorted.map { .integer(Int64($0)) })
    try expect(store.delete(pairs[3]))
    try expect(store.find(pairs[3]) == nil && store.rows().count == pairs.count - 1)
  }

  @Sendable private static func unique(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let schema = try ModelSchema(
      name: "UniquePair",
      fields: [FieldSchema("id", .int64), FieldSchema("a", .string), FieldSchema("b", .string)], key: ["id"],
      indexes: [IndexSchema(["a", "b"], isUnique: true)])
    let store = RowStore(try repository.storage, schema)
    try store.save(pairs.enumerated().map { [.integer(Int64($0)), $1[0], $1[1]] })
    for (number, pair) in pairs.enumerated() {
      let both: [PredicateNode] = [
        .comparison(field: "a", .equal, pair[0]), .comparison(field: "b", .equal, pair[1]),
      ]
      try expect(store.rows(where: .all(both)).map { $0[0] }, equals: [.integer(Int64(number))], "\(pair)")
      try expectError(.uniqueViolation, "\(pair)") { try store.save([[.integer(-1), pair[0], pair[1]]]) }
    }
    try expect(store.rows().count, equals: pairs.count)
  }
}
