import PersistenceCore

extension Account {
  /// A property that is not stored.
  var double: Int { balance * 2 }
}

/// E2 E3: invalid requests.
enum UnknownFieldChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck("fetch throws unknownField for an unknown key path, naming it", [.e3], keyPaths),
    ConformanceCheck("a context rejects handmade requests that no field can satisfy", [.e2, .e3], byHand),
    ConformanceCheck(
      "a deep predicate is answered or rejected, and does not overflow the stack", [.e2], deepPredicate),
  ]

  @Sendable private static func keyPaths(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    for isFilled in [false, true] {
      if isFilled { try repository.save(Account(1, balance: 1)) }
      let errors = try expectErrors(
        .unknownField, calls: { try repository.filter(Account.self, where: \.double == 2).result() },
        { try repository.filter(Account.self, where: \.double == 2).count() },
        { try repository.filter(Account.self, where: \.double == 2).delete() },
        { try repository.filter(Account.self, where: \.balance == \.double).first() },
        { try repository.filter(Account.self, where: !(\.id == 1 && .in(\.double, []))).exists() },
        { try repository.filter(Account.self).sorted(by: \.double).result() },
        { try repository.filter(Account.self, where: .contains(\.note.description, "x")).result() })
      for error in errors {
        try expect(error.model, equals: "Account")
        // A key path into a field names the field, any other one the stored properties.
        try expect(error.field == "note" || error.message.contains("balance"), error.message)
      }
    }
    try expect(repository.count(Account.self), equals: 1)
  }

  @Sendable private static func byHand(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    try repository.save(Account(1, balance: 1))
    let storage = try repository.storage
    let schema = try Account.schema.model
    try expectError(.unknownField) {
      try storage.fetch(FetchRequest(schema, where: .comparison(field: "nothing", .equal, .integer(1))))
    }
    try expectError(.invalidRequest) {
      try storage.fetch(FetchRequest(schema, where: .comparison(field: "balance", .equal, .text("1"))))
    }
    try expectError(.invalidRequest) {
      try storage.fetch(
        FetchRequest(schema, where: .text(field: "balance", .contains, "1", isCaseInsensitive: false)))
    }
    try expectError(.invalidRequest) {
      try storage.fetch(FetchRequest(schema, after: PageAnchor([.text("1")])))
    }
    try expectError(.invalidRequest) { _ = try storage.find(RecordKey([.text("1")]), in: schema) { _ in } }
    try expectError(.invalidRequest) { _ = try storage.find(RecordKey([]), in: schema) { _ in } }
    try expectError(.invalidRequest) { _ = try storage.find(RecordKey([.null]), in: schema) { _ in } }
    try storage.transaction { transaction in
      try expectError(.invalidRequest) {
        try transaction.delete(RecordKey([.integer(1), .integer(2)]), in: schema)
      }
    }
    try expect(repository.count(Account.self), equals: 1)
  }

  @Sendable private static func deepPredicate(_ context: ContextUnderTest) throws {
    let repository = try context.makeRepository(with: (1...5).map { Account($0, balance: $0) })
    func nest(_ depth: Int) -> PersistentPredicate<Account> {
      (0..<depth).reduce(\.balance == 3) { predicate, level in
        level.isMultiple(of: 2) ? predicate && !(\.id == -1) : predicate || \.id == -2
      }
    }
    for depth in [30, 200, 450] {
      try expect(repository.filter(Account.self, where: nest(depth)).ids(), equals: [3], "\(depth)")
    }
    try expectError(.invalidRequest) { try repository.filter(Account.self, where: nest(5000)).result() }
    let wide = (0..<3000).map { PredicateNode.comparison(field: "id", .equal, .integer(Int64($0 * 5))) }
    let any = PersistentPredicate<Account>(node: .any(wide))
    try expect(repository.filter(Account.self, where: any).ids(), equals: [5])
    try expect(repository.filter(Account.self, where: !any).count(), equals: 4)
    let many: PersistentPredicate<Account> = .in(\.id, 3...200_000)
    try expect(repository.filter(Account.self, where: many).ids(), equals: [3, 4, 5])
    try expect(repository.filter(Account.self, where: !many).delete(), equals: 2)
  }
}
