import PersistenceCore

/// W7 W1 E2: single calls, which change everything that they should, or nothing.
enum RequestWriteChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "delete by request deletes all of its rows, however many pages they take", [.w7, .w1], deletesAll),
    ConformanceCheck(
      "update by request updates all of its rows, however many pages they take", [.w7, .w1], updatesAll),
    ConformanceCheck(
      "a call that throws leaves its transaction as it was, rows and index entries", [.w7, .w4], failedCalls),
    ConformanceCheck(
      "writing to a model that is not defined throws invalidRequest, and defines nothing", [.w7, .e2],
      undefinedModel),
  ]

  private static var schema: ModelSchema { get throws { try Account.schema.model } }

  /// Requests over 300 accounts that match 250 or more of them, each in another way.
  private static func requests() throws -> [(name: String, request: FetchRequest, count: Int)] {
    [
      ("every row", try FetchRequest(schema), 300),
      (
        "a condition on an index",
        try FetchRequest(schema, where: .comparison(field: "balance", .equal, .integer(1))), 250
      ),
      (
        "a condition without an index",
        try FetchRequest(schema, where: .comparison(field: "note", .equal, .text("a"))), 250
      ),
      (
        "an order without an index, and a limit",
        try FetchRequest(schema, order: [FieldOrder("note", isDescending: true)], limit: 260, offset: 10), 260
      ),
      (
        "the order of the key, reversed, and an offset",
        try FetchRequest(schema, order: [FieldOrder("id", isDescending: true)], offset: 30), 270
      ),
    ]
  }

  private static func filled(_ context: ContextUnderTest) throws -> Repository {
    try context.makeRepository(
      with: (1...300).map { Account($0, balance: $0 % 6 == 0 ? 0 : 1, note: $0 % 6 == 0 ? "b" : "a") })
  }

  /// Runs a closure in a transaction that rolls back.
  private static func rollingBack(
    _ storage: any StorageContext, _ body: (any StorageTransaction) throws -> Void
  ) throws {
    try expectThrows(SuiteError()) {
      try storage.transaction { transaction in
        try body(transaction)
        throw SuiteError()
      }
    }
  }

  @Sendable private static func deletesAll(_ context: ContextUnderTest) throws {
    let repository = try filled(context)
    let storage = try repository.storage
    for (name, request, count) in try requests() {
      try rollingBack(storage) { transaction in
        let doomed = Set(try RowStore.rows(of: request, from: transaction).map { $0[0] })
        try expect(doomed.count, equals: count, "rows of \(name)")
        try expect(transaction.delete(request), equals: count, "the number that delete returns, for \(name)")
        let left = try RowStore.rows(of: FetchRequest(schema), from: transaction).map { $0[0] }
        try expect(left.count, equals: 300 - count, "rows left after deleting \(name)")
        try expect(left.allSatisfy { !doomed.contains($0) }, "the rows left after deleting \(name)")
      }
    }
    try expect(repository.count(Account.self), equals: 300, "rows after the rollbacks")
    try expect(repository.filter(Account.self, where: \.balance == 1).delete(), equals: 250, "rows deleted")
    try expect(repository.count(Account.self), equals: 50, "rows after the commit")
  }

  @Sendable private static func updatesAll(_ context: ContextUnderTest) throws {
    let storage = try filled(context).storage
    for (name, request, count) in try requests() {
      try rollingBack(storage) { transaction in
        let update = try UpdateRequest(
          request, set: [FieldAssignment("balance", .integer(77)), FieldAssignment("note", .text("c"))])
        try expect(transaction.update(update), equals: count, "the number that update returns, for \(name)")
        for field in [
          PredicateNode.comparison(field: "balance", .equal, .integer(77)),
          .comparison(field: "note", .equal, .text("c")),
        ] {
          try expect(
            transaction.count(FetchRequest(schema, where: field)), equals: count,
            "rows found after updating \(name)")
        }
        try expect(transaction.count(FetchRequest(schema)), equals: 300, "all rows after updating \(name)")
      }
    }
  }

  @Sendable private static func failedCalls(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let people = (1...6).map { (number: Int) in
      Person("p\(number)", age: number, email: "\(number)@x", team: "red", seat: number)
    }
    try repository.save(contentsOf: people)
    let schema = try Person.schema.model
    func state(_ reader: any StorageReader) throws -> [[[PersistentValue]]] {
      try [[], [FieldOrder("age")], [FieldOrder("email")]].map {
        try RowStore.rows(of: FetchRequest(schema, order: $0), from: reader)
      }
    }
    let storage = try repository.storage
    try storage.transaction { transaction in
      _ = try transaction.delete(RecordKey([.text("p1")]), in: schema)
      let before = try state(transaction)
      // The first row gets the value, the second one cannot.
      let update = try UpdateRequest(FetchRequest(schema), set: [FieldAssignment("email", .text("one"))])
      try expectError(.uniqueViolation, "one email for five people") { try transaction.update(update) }
      try expect(state(transaction), equals: before, "after the update that failed")
      var taken = people[1]
      (taken.email, taken.age, taken.seat) = ("new", 99, 3)
      try expectError(.uniqueViolation, "a seat that is taken") {
        try taken.withRow { try transaction.save($0, in: schema) }
      }
      try expect(state(transaction), equals: before, "after the save that failed")
      try expectThrows(SuiteError(), "a nested closure's error") {
        try transaction.nested {
          _ = try transaction.deleteAll(in: schema)
          throw SuiteError()
        }
      }
      try expect(state(transaction), equals: before, "after the nested transaction that failed")
      var other = people[2]
      other.email = "new"
      try other.withRow { try transaction.update($0, in: schema) }
    }
    try expect(
      repository.fetch(Person.self).map(\.email), equals: ["2@x", "new", "4@x", "5@x", "6@x"],
      "the commit of what did not fail")
    try expect(repository.filter(Person.self, where: \.email == "one").count(), equals: 0, "the failed value")
  }

  @Sendable private static func undefinedModel(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(Account(1, balance: 1))
    let schema = try UniqueNumber.schema.model
    let row: [PersistentValue] = [.integer(1), .double(2)]
    try repository.storage.transaction { transaction in
      let writes: [(String, (borrowing Row) throws -> Void)] = [
        ("insert", { try transaction.insert($0, in: schema) }),
        ("update", { try transaction.update($0, in: schema) }),
        ("save", { try transaction.save($0, in: schema) }),
      ]
      for (name, write) in writes {
        let error = try expectError(.invalidRequest, "\(name) before define") { try row.withRow(write) }
        try expect(error.model, equals: schema.name, "the model in the error of \(name)")
      }
      let key = RecordKey([.integer(1)])
      try expect(transaction.delete(key, in: schema), equals: false, "delete of a key")
      try expect(transaction.delete(FetchRequest(schema)), equals: 0, "delete of a request")
      try expect(transaction.deleteAll(in: schema), equals: 0, "deleteAll")
      try expect(transaction.catalog().map(\.name), equals: ["Account"], "the catalog in the transaction")
    }
    try expect(repository.storage.catalog().map(\.name), equals: ["Account"], "the catalog")
    try repository.insert(UniqueNumber(1, number: 2))
    try expect(repository.count(UniqueNumber.self), equals: 1, "records after the model was defined")
  }
}

extension PersistentRecord {
  /// Passes the record to a closure, as a row.
  func withRow<Result>(_ body: (borrowing Row) throws -> Result) throws -> Result {
    let buffer = RowBuffer(count: try Self.schema.model.fields.count)
    try encode(into: buffer)
    return try buffer.withRow(body)
  }
}
