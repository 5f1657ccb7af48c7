import PersistenceCore

/// E2 E3: invalid requests, and fields that are not stored.
enum InvalidRequestChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "every call rejects an invalid request before it touches a record", [.e2, .e3, .o4], senseless),
    ConformanceCheck(
      "an unknown key path is named, wherever it occurs in a predicate or an order", [.e3], unknownAnywhere),
  ]

  @Sendable private static func senseless(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let person = Person("p")
    try repository.save(person)
    let storage = try repository.storage
    let schema = try Person.schema.model
    let predicates: [PredicateNode] = [
      .comparison(field: "age", .equal, .text("1")), .comparison(field: "age", .less, .double(1)),
      .comparison(field: "name", .equal, .bytes([1])), .comparison(field: "score", .greater, .integer(1)),
      .comparison(field: "joined", .equal, .double(1)), .comparison(field: "tags", .less, .document("[]")),
      .comparison(field: "tags", .greaterOrEqual, .null), .comparison(field: "tags", .equal, .text("[]")),
      .fieldComparison(left: "age", .equal, right: "name"),
      .fieldComparison(left: "tags", .less, right: "tags"),
      .fieldComparison(left: "score", .less, right: "joined"),
      .isIn(field: "age", [.integer(1), .text("1")]),
      .isBetween(field: "age", lower: .integer(1), upper: .double(2)),
      .isBetween(field: "tags", lower: .document("[]"), upper: .document("[]")),
      .text(field: "age", .contains, "1", isCaseInsensitive: false),
      .text(field: "tags", .contains, "1", isCaseInsensitive: true),
      .text(field: "name", .matches, "(", isCaseInsensitive: false),
      .not(.any([.constant(true), .comparison(field: "age", .equal, .bool(true))])),
    ]
    for predicate in predicates {
      let typed = PersistentPredicate<Person>(node: predicate)
      let query = repository.filter(Person.self, where: typed)
      try expectError(.invalidRequest, "\(predicate)") {
        try storage.fetch(FetchRequest(schema, where: predicate))
      }
      try expectError(.invalidRequest, "\(predicate)") { try query.result() }
      try expectError(.invalidRequest, "\(predicate)") { try query.count() }
      try expectError(.invalidRequest, "\(predicate)") { try query.exists() }
      try expectError(.invalidRequest, "\(predicate)") { try query.delete() }
    }
    for anchor: [PersistentValue] in [[], [.null], [.integer(1)], [.text("p"), .text("p")], [.bytes([0])]] {
      try expectError(.invalidRequest, "after \(anchor)") {
        try storage.fetch(FetchRequest(schema, after: PageAnchor(anchor)))
      }
    }
    for order in [[FieldOrder("tags")], [FieldOrder("name"), FieldOrder("tags", isDescending: true)]] {
      try expectError(.invalidRequest, "sorted by \(order)") {
        try storage.count(FetchRequest(schema, order: order))
      }
    }
    try expect(Array(repository.fetch(Person.self)), equals: [person])
  }

  @Sendable private static func unknownAnywhere(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(Account(1, balance: 1))
    let storage = try repository.storage
    let schema = try Account.schema.model
    for name in [
      "nothing", "Balance", "balance ", "", "rowid", "id\0", "bal\u{E1}nce",
      "\(String(repeating: "x", count: 300))",
    ] {
      let known = PredicateNode.comparison(field: "id", .equal, .integer(1))
      let predicates: [PredicateNode] = [
        .comparison(field: name, .equal, .null), .fieldComparison(left: name, .less, right: "id"),
        .fieldComparison(left: "id", .less, right: name), .isIn(field: name, []),
        .isBetween(field: name, lower: .null, upper: .null),
        .text(field: name, .contains, "", isCaseInsensitive: false),
        .not(.comparison(field: name, .less, .null)),
        .any([.constant(true), known, .all([.not(.isIn(field: name, [.null]))])]),
      ]
      for predicate in predicates {
        let error = try expectError(.unknownField, "\(predicate)") {
          try storage.fetch(FetchRequest(schema, where: predicate))
        }
        try expect(error.model == "Account" && error.field?.exactText == name.exactText, "\(error)")
      }
      let error = try expectError(.unknownField, "sorted by \(name)") {
        try storage.fetch(FetchRequest(schema, order: [FieldOrder("balance"), FieldOrder(name)]))
      }
      try expect(error.field?.exactText, equals: name.exactText)
    }
  }
}
