import PersistenceCore

/// R3: the pages of a driver's results.
///
/// If pages and count disagree, the standard library's algorithms stop the process. These checks run first,
/// because checks of collections could not report it.
enum PageReadingChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "pages of every size, read in any order and repeatedly, give the same rows, and count agrees",
      [.r3, .r2], pages)
  ]

  @Sendable private static func pages(_ context: ContextUnderTest) throws {
    for size in [0, 1, 127, 128, 129, 300] {
      let repository = try context.makeRepository(with: (0..<size).map { Account($0, balance: $0 % 7) })
      let schema = try Account.schema.model
      let ids = Array(0..<Int64(size))
      let byBalance = ids.sorted { ($0 % 7, $0) < ($1 % 7, $1) }
      let even = PredicateNode.comparison(field: "balance", .lessOrEqual, .integer(2))
      let requests: [(FetchRequest, [Int64])] = [
        (try FetchRequest(schema), ids),
        (try FetchRequest(schema, order: [FieldOrder("balance")]), byBalance),
        (try FetchRequest(schema, where: even), ids.filter { $0 % 7 <= 2 }),
        (try FetchRequest(schema, limit: 129, offset: 1), Array(ids.dropFirst().prefix(129))),
        (
          try FetchRequest(schema, order: [FieldOrder("balance", isDescending: true)], limit: 200),
          Array(byBalance.reversed().prefix(200))
        ),
      ]
      for (request, expected) in requests {
        try check(try repository.storage, request, expected, "\(size) records, \(request.shape)")
        let snapshot = try repository.storage.snapshot()
        try check(snapshot, request, expected, "\(size) records, \(request.shape), in a snapshot")
      }
      try repository.close()
    }
  }

  private static func check(
    _ reader: any StorageReader, _ request: FetchRequest, _ expected: [Int64], _ subject: String
  ) throws {
    func expectPage(_ results: any StorageResults, from offset: Int, limit: Int) throws {
      var ids: [Int64] = []
      let count = try results.read(from: offset, limit: limit) { row in
        if case .integer(let id) = try row.value(at: 0) { ids.append(id) }
      }
      let page = Array(expected.dropFirst(offset).prefix(limit))
      try expect(ids, equals: page, "\(subject): \(limit) rows from \(offset)")
      try expect(count, equals: page.count, "\(subject): the number read, of \(limit) rows from \(offset)")
    }
    let counted = try reader.fetch(request)
    try expect(counted.count(), equals: expected.count, subject)
    try expectPage(counted, from: 0, limit: .max)
    let read = try reader.fetch(request)
    for _ in 0..<2 {
      for offset in stride(from: 0, through: expected.count, by: 128) {
        try expectPage(read, from: offset, limit: 128)
      }
    }
    try expect(read.count(), equals: expected.count, "\(subject), after an iteration")
    let jumped = try reader.fetch(request)
    for offset in [200, 0, 129, 127, 128, 1, 299, 300, 5, 1000, 256, 0] {
      try expectPage(jumped, from: offset, limit: 3)
      try expectPage(jumped, from: offset, limit: 0)
    }
    try expect(jumped.count(), equals: expected.count, "\(subject), after jumps")
  }
}
