import ContextTestSupport
import PersistenceCore
import Testing

@Suite("E1: models and contexts that do not belong together")
struct MismatchTests {
  /// Every way to use a model, each of which must say that the context does not hold it.
  private func expectRefusals<Model: PersistentModel>(
    of model: Model, in repository: any PersistentRepository, naming names: [String],
    at sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let errors = [
      expectError(.incompatibleContext, at: sourceLocation) { try repository.fetch(Model.self) },
      expectError(.incompatibleContext, at: sourceLocation) { try repository.count(Model.self) },
      expectError(.incompatibleContext, at: sourceLocation) { try repository.save(model) },
      expectError(.incompatibleContext, at: sourceLocation) { try repository.save(contentsOf: [model]) },
      expectError(.incompatibleContext, at: sourceLocation) { try repository.write(model) { _ in } },
      expectError(.incompatibleContext, at: sourceLocation) { try repository.delete(model) },
      expectError(.incompatibleContext, at: sourceLocation) { try repository.deleteAll(Model.self) },
      expectError(.incompatibleContext, at: sourceLocation) {
        try Model.fetch(in: repository.context, options: nil)
      },
    ]
    for error in errors {
      for name in names {
        #expect(error?.message.contains(name) == true, "\(name)", sourceLocation: sourceLocation)
      }
    }
  }

  @Test(
    "E1 a model restricted to some contexts is refused by others, inside a transaction too",
    arguments: ContextUnderTest.all)
  func restricted(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    guard !(repository.context is MemoryContext) else {
      try repository.save(RestrictedNote(1))
      #expect(try Array(repository.fetch(RestrictedNote.self)) == [RestrictedNote(1)])
      return try repository.transaction { try $0.deleteAll(RestrictedNote.self) }
    }
    let names = ["RestrictedNote", "\(type(of: repository.context))", "MemoryContext"]
    expectRefusals(of: RestrictedNote(1), in: repository, naming: names)
    expectError(.incompatibleContext) { try repository.find(RestrictedNote.self, id: 1) }
    expectError(.incompatibleContext) { try repository.insert(RestrictedNote(1)) }
    expectError(.incompatibleContext) { try repository.update(RestrictedNote(1)) }
    expectError(.incompatibleContext) { try repository.filter(RestrictedNote.self).result() }
    expectError(.incompatibleContext) { try repository.filter(RestrictedNote.self).delete() }
    try repository.transaction { store in
      try store.save(Account(1, balance: 1))
      expectRefusals(of: RestrictedNote(1), in: store, naming: names)
    }
    #expect(try repository.count(Account.self) == 1)
    #expect(try repository.storage.catalog().map(\.name) == ["Account"])
  }

  @Test(
    "E1 a model of an object-graph framework is refused, inside a transaction too",
    arguments: ContextUnderTest.all)
  func foreignModel(context: ContextUnderTest) throws {
    let repository = try context.makeStore().open()
    let names = ["Track", "\(type(of: repository.context))", "ObjectGraph"]
    expectRefusals(of: Track(1, "One"), in: repository, naming: names)
    try repository.transaction { store in
      expectRefusals(of: Track(1, "One"), in: store, naming: ["Track", "ObjectGraph"])
    }
    #expect(try repository.storage.catalog().isEmpty)
  }

  @Test("E1 a record is refused by a context of an object-graph framework")
  func foreignContext() throws {
    let graph = Repository(ObjectGraph())
    expectRefusals(of: Account(1, balance: 1), in: graph, naming: ["Account", "ObjectGraph"])
    expectRefusals(
      of: RestrictedNote(1), in: graph, naming: ["RestrictedNote", "ObjectGraph", "MemoryContext"])
    expectError(.incompatibleContext) { try graph.find(Account.self, id: 1) }
    expectError(.incompatibleContext) { try graph.filter(Account.self).result() }
    try graph.transaction { store in
      expectRefusals(of: Account(1, balance: 1), in: store, naming: ["Account", "ObjectGraph"])
    }
  }

  @Test("E1 beside that, the object-graph framework's own models work through the same repository")
  func foreignFramework() throws {
    let graph = Repository(ObjectGraph())
    try graph.save(contentsOf: [Track(2, "Two"), Track(1, "One"), Track(3, "Three")])
    #expect(try graph.fetch(Track.self).map(\.number) == [1, 2, 3])
    let options = FetchOptions<Track>(
      predicate: .hasPrefix(\.title, "T") && !(\.number == 9), sorting: [SortCriterion(\.title)], limit: 1)
    #expect(try graph.fetch(Track.self, options: options).map(\.title) == ["Three"])
    #expect(try graph.count(Track.self, options: FetchOptions(predicate: \.number > 1)) == 2)
    #expect(try graph.write(Track(1, "")) { $0.title = "Uno" }.title == "Uno")
    #expect(throws: Refusal()) {
      try graph.transaction { store in
        try store.deleteAll(Track.self)
        throw Refusal()
      }
    }
    #expect(try graph.fetch(Track.self).map(\.title) == ["Uno", "Two", "Three"])
    #expect(try graph.delete(Track(2, "")) && graph.delete(Track(2, "")) == false)
    try graph.transaction { try $0.deleteAll(Track.self) }
    #expect(try graph.count(Track.self) == 0)
  }

  @Test("E1 a transaction of one store is not one of another", arguments: ContextUnderTest.all)
  func transactionOfAnother(context: ContextUnderTest) throws {
    let first = try context.makeStore().open()
    let second = try context.makeStore().open()
    try first.transaction { store in
      try store.save(Account(1, balance: 1))
      #expect(try second.count(Account.self) == 0)
      let memory = Repository(MemoryContext())
      try memory.transaction { other in
        try other.save(contentsOf: store.fetch(Account.self))
        expectRefusals(of: Track(1, ""), in: other, naming: ["Track"])
      }
      #expect(try memory.count(Account.self) == 1)
    }
    #expect(try second.count(Account.self) == 0)
  }
}
