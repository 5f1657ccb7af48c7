import PersistenceCore
import PersistenceDriverSupport

/// E1: models and contexts that do not match.
enum MismatchChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      "other contexts reject a model that is restricted to certain contexts, also inside a transaction",
      [.e1], restricted),
    ConformanceCheck(
      "a model of an object-graph framework is rejected, also inside a transaction", [.e1], foreignModel),
    ConformanceCheck("a store rejects another store's transaction", [.e1], transactionOfAnother),
  ]

  /// Every use of a model, each of which must throw incompatibleContext.
  private static func expectRefusals<Model: PersistentModel>(
    of model: Model, in repository: any PersistentRepository, naming names: [String],
    file: StaticString = #fileID, line: UInt = #line
  ) throws {
    let errors = try expectErrors(
      .incompatibleContext, file: file, line: line, calls: { try repository.fetch(Model.self) },
      { try repository.count(Model.self) }, { try repository.save(model) },
      { try repository.save(contentsOf: [model]) }, { try repository.write(model) { _ in } },
      { try repository.delete(model) }, { try repository.deleteAll(Model.self) },
      { try Model.fetch(in: repository.context, options: nil) })
    for error in errors {
      for name in names {
        try expect(error.message.contains(name), "\(name) in “\(error)”", file: file, line: line)
      }
    }
  }

  @Sendable private static func restricted(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let names = ["RestrictedNote", "\(type(of: repository.context))", "AnotherContext"]
    try expectRefusals(of: RestrictedNote(1), in: repository, naming: names)
    try expectError(.incompatibleContext) { try repository.find(RestrictedNote.self, id: 1) }
    try expectError(.incompatibleContext) { try repository.insert(RestrictedNote(1)) }
    try expectError(.incompatibleContext) { try repository.update(RestrictedNote(1)) }
    try expectError(.incompatibleContext) { try repository.filter(RestrictedNote.self).result() }
    try expectError(.incompatibleContext) { try repository.filter(RestrictedNote.self).delete() }
    try repository.transaction { store in
      try store.save(Account(1, balance: 1))
      try expectRefusals(of: RestrictedNote(1), in: store, naming: names)
    }
    try expect(repository.count(Account.self), equals: 1)
    try expect(repository.storage.catalog().map(\.name), equals: ["Account"])
  }

  @Sendable private static func foreignModel(_ context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let names = ["Track", "\(type(of: repository.context))", "ObjectGraph"]
    try expectRefusals(of: Track(1, "One"), in: repository, naming: names)
    try repository.transaction { store in
      try expectRefusals(of: Track(1, "One"), in: store, naming: ["Track", "ObjectGraph"])
    }
    try expect(repository.storage.catalog().isEmpty)
  }

  @Sendable private static func transactionOfAnother(_ context: ContextUnderTest) throws {
    let first = try context.makeStore().open()
    let second = try context.makeStore().open()
    try first.transaction { store in
      try store.save(Account(1, balance: 1))
      try expect(second.count(Account.self), equals: 0)
      let memory = Repository(MemoryContext())
      try memory.transaction { other in
        try other.save(contentsOf: store.fetch(Account.self))
        try expectRefusals(of: Track(1, ""), in: other, naming: ["Track"])
      }
      try expect(memory.count(Account.self), equals: 1)
    }
    try expect(second.count(Account.self), equals: 0)
  }
}
