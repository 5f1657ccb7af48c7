import PersistenceDriver
import PersistenceJSON
import Testing

/// Changes of schema that leave the record files as they are.
struct EvolutionTests {
  private let place: TemporaryStore
  private let context: JSONDirectoryContext
  private let films = Films.schema

  init() throws {
    place = try TemporaryStore()
    context = try place.open()
    try context.save(Films.row(1, "One", "a"), Films.row(2, "Two", "b"), Films.row(3, "Three"))
  }

  private func file(_ id: Int) -> String { "\(Films.folder)/\(id).json" }

  /// The target: `title` is `name` now, `rating` has a fill, `note` is nil, in another order.
  private func target(_ name: String = "Film", rating: String = "rating") throws -> ModelSchema {
    try ModelSchema(
      name: name,
      fields: [
        FieldSchema(rating, .int32), FieldSchema("id", .int64), FieldSchema("name", .string),
        FieldSchema("note", .string, isOptional: true), FieldSchema("code", .string, isOptional: true),
      ], key: ["id"], indexes: [IndexSchema(["code"], isUnique: true)])
  }

  private func change(_ name: String = "Film", fill: Int64 = 7) throws -> SchemaChange {
    try SchemaChange(
      from: films, to: target(name),
      sources: [.fill(.integer(fill)), .field(0), .field(1), .fill(.null), .field(2)])
  }

  private let rows: [[PersistentValue]] = [
    [.integer(7), .integer(1), .text("One"), .null, .text("a")],
    [.integer(7), .integer(2), .text("Two"), .null, .text("b")],
    [.integer(7), .integer(3), .text("Three"), .null, .null],
  ]

  private func catalog() throws -> String { try place.text(".persistence/catalog.json") }

  @Test("renames, fills and another order change only the catalog, also for another process")
  func catalogOnly() throws {
    let before = try (1...3).map { try place.text(file($0)) }
    #expect(try catalog().contains("\"version\": 1"))
    let change = try change()
    #expect(try context.cost(of: change) == .catalog)
    #expect(try context.openings { try context.transaction { try $0.evolve(change) } } == 0)
    #expect(try (1...3).map { try place.text(file($0)) } == before)
    #expect(try catalog().contains("\"version\": 2"))
    let target = try target()
    for context in [context, try place.open(), try place.openForReading()] {
      #expect(try context.rows(of: target) == rows)
      #expect(try context.row(Films.key(2), in: target) == rows[1])
      #expect(try context.schema(named: "Film") == target)
      #expect(try context.count(FetchRequest(target)) == 3)
      let error = try #require(throws: PersistenceError.self) { try context.titles() }
      #expect(error.code == .schemaMismatch)
    }
  }

  @Test("predicates, orders and aggregates use fills; written records have the members of now")
  func requests() throws {
    let (change, target) = (try change(), try target())
    try context.transaction { try $0.evolve(change) }
    try context.save([.integer(9), .integer(2), .text("Zwei"), .text("n"), .text("b")], in: target)
    #expect(
      try place.text(file(2))
        == "{\n  \"code\": \"b\",\n  \"id\": 2,\n  \"name\": \"Zwei\",\n  \"note\": \"n\",\n  \"rating\": 9\n}\n"
    )
    func ids(_ predicate: PredicateNode?, _ order: [FieldOrder] = []) throws -> [PersistentValue] {
      try context.rows(FetchRequest(target, where: predicate, order: order)).map { $0[1] }
    }
    #expect(try ids(.comparison(field: "rating", .equal, .integer(7))) == [.integer(1), .integer(3)])
    #expect(try ids(.comparison(field: "name", .equal, .text("One"))) == [.integer(1)])
    #expect(
      try ids(nil, [FieldOrder("rating", isDescending: true), FieldOrder("name")])
        == [.integer(2), .integer(1), .integer(3)])
    let groups = try context.aggregate(
      AggregateRequest(FetchRequest(target), grouping: ["rating"], aggregates: [.count]))
    #expect(groups.map(\.key) == [[.integer(7)], [.integer(9)]])
    try context.transaction { transaction in
      let request = try UpdateRequest(
        FetchRequest(target, where: .comparison(field: "rating", .equal, .integer(7))),
        set: [FieldAssignment("note", .text("x"))])
      #expect(try transaction.update(request) == 2)
    }
    #expect(try place.text(file(1)).contains("\"rating\": 7"))
    let error = try #require(throws: PersistenceError.self) {
      try context.save([.integer(9), .integer(4), .text("Vier"), .null, .text("a")], in: target)
    }
    #expect(error.code == .uniqueViolation)
  }

  @Test("two changes in succession keep the fill of each record, and a widened kind its values")
  func succession() throws {
    let (first, target) = (try change(), try target())
    try context.transaction { try $0.evolve(first) }
    try context.save([.integer(9), .integer(2), .text("Two"), .null, .text("b")], in: target)
    let last = try ModelSchema(
      name: "Film",
      fields: [
        FieldSchema("id", .int64), FieldSchema("grade", .int64, isOptional: true),
        FieldSchema("name", .string),
        FieldSchema("code", .string, isOptional: true), FieldSchema("note", .string, isOptional: true),
        FieldSchema("seen", .bool),
      ], key: ["id"])
    let second = try SchemaChange(
      from: target, to: last,
      sources: [.field(1), .field(0), .field(2), .field(4), .field(3), .fill(.bool(true))])
    #expect(try context.cost(of: second) == .catalog)
    try context.transaction { try $0.evolve(second) }
    for context in [context, try place.open()] {
      #expect(
        try context.rows(of: last) == [
          [.integer(1), .integer(7), .text("One"), .text("a"), .null, .bool(true)],
          [.integer(2), .integer(9), .text("Two"), .text("b"), .null, .bool(true)],
          [.integer(3), .integer(7), .text("Three"), .null, .null, .bool(true)],
        ])
    }
    // The index is dropped.
    try context.save(
      [.integer(4), .null, .text("Four"), .text("a"), .null, .bool(false)], in: last)
  }

  @Test("a renamed model keeps its folder; its old name is free")
  func modelRename() throws {
    let (change, target) = (try change("Movie"), try target("Movie"))
    #expect(try context.cost(of: change) == .catalog)
    try context.transaction { transaction in
      try transaction.evolve(change)
      #expect(try transaction.rows(of: target) == rows)
      try transaction.define(films)
      try transaction.insert(Films.row(1, "New", "a"))
    }
    #expect(try context.catalog().map(\.name) == ["Film", "Movie"])
    #expect(try context.rows(of: target) == rows)
    #expect(try context.titles() == ["New"])
    #expect(try place.names(Films.folder) == ["1.json", "2.json", "3.json"])
    let back = try SchemaChange(from: films, to: target, sources: change.sources)
    let error = try #require(throws: PersistenceError.self) {
      try context.transaction { try $0.evolve(back) }
    }
    #expect(error.code == .schemaMismatch)
  }

  @Test("a rollback restores the schema, of a nested transaction and of the whole")
  func rollback() throws {
    let (change, target) = (try change(), try target())
    struct Stop: Error {}
    let before = try catalog()
    #expect(throws: Stop.self) {
      try context.transaction { transaction in
        try transaction.evolve(change)
        try transaction.save([.integer(1), .integer(4), .text("Four"), .null, .text("d")], in: target)
        throw Stop()
      }
    }
    #expect(try catalog() == before)
    #expect(try context.titles() == ["One", "Two", "Three"])
    try context.transaction { transaction in
      #expect(throws: Stop.self) {
        try transaction.nested {
          try transaction.evolve(change)
          try transaction.save([.integer(1), .integer(4), .text("Four"), .null, .text("d")], in: target)
          throw Stop()
        }
      }
      #expect(try transaction.schema(named: "Film") == films)
      try transaction.save(Films.row(4, "Four", "d"))
      #expect(throws: PersistenceError.self) { try transaction.save(Films.row(5, "Five", "a")) }
    }
    #expect(try context.titles() == ["One", "Two", "Three", "Four"])
    // Another fill than that of the transactions that were rolled back.
    let other = try self.change(fill: 5)
    try context.transaction { try $0.evolve(other) }
    #expect(try context.rows(of: target).map { $0[0] } == Array(repeating: .integer(5), count: 4))
  }

  @Test("a pinned snapshot keeps its schema, and another open context sees the change at its next call")
  func otherReaders() throws {
    let other = try place.open()
    #expect(try other.titles().count == 3)
    let snapshot = try context.snapshot()
    let (change, target) = (try change(), try target())
    try context.transaction { try $0.evolve(change) }
    try context.save([.integer(1), .integer(1), .text("Uno"), .null, .text("a")], in: target)
    #expect(
      try snapshot.rows() == [Films.row(1, "One", "a"), Films.row(2, "Two", "b"), Films.row(3, "Three")])
    #expect(throws: PersistenceError.self) { try snapshot.rows(of: target) }
    #expect(throws: PersistenceError.self) { try other.titles() }
    #expect(try other.rows(of: target).map { $0[2] } == [.text("Uno"), .text("Two"), .text("Three")])
    try other.save([.integer(2), .integer(2), .text("Due"), .null, .text("b")], in: target)
    #expect(try context.row(Films.key(2), in: target)?[2] == .text("Due"))
  }

  @Test("a change from another schema than that of the store is rejected")
  func mismatch() throws {
    let (change, target) = (try change(), try target())
    try context.transaction { try $0.evolve(change) }
    for attempt in [
      { try context.transaction { try $0.evolve(change) } }, { _ = try context.cost(of: change) },
    ] as [() throws -> Void] {
      #expect(try #require(throws: PersistenceError.self) { try attempt() }.code == .schemaMismatch)
    }
    #expect(try context.rows(of: target) == rows)
  }

  @Test("a file added by hand may have the members of before or of now, but not both names of a field")
  func handEdits() throws {
    let (change, target) = (try change(), try target())
    try context.transaction { try $0.evolve(change) }
    try place.write("{\"title\": \"Four\", \"id\": 4}", to: file(4))
    #expect(
      try context.row(Films.key(4), in: target) == [.integer(7), .integer(4), .text("Four"), .null, .null])
    try place.write("{\"name\": \"Five\", \"rating\": 2, \"id\": 5, \"code\": \"e\"}", to: file(5))
    #expect(try context.rows(of: target).map { $0[0] } == [7, 7, 7, 7, 2].map { .integer($0) })
    let error = try #require(throws: PersistenceError.self) {
      try context.save([.integer(1), .integer(6), .text("Six"), .null, .text("e")], in: target)
    }
    #expect(error.code == .uniqueViolation)
    for (text, name) in [
      ("{\"name\": \"Five\",\n\"title\": \"Five\", \"id\": 5}", "title"),
      ("{\"name\": \"Five\",\n\"titel\": \"Five\", \"id\": 5}", "titel"),
      ("{\"rating\": 1,\n\"title\": 5, \"id\": 5}", "title"),
    ] {
      try place.write(text, to: file(5))
      let error = try #require(throws: PersistenceError.self) {
        _ = try context.row(Films.key(5), in: target)
      }
      #expect(error.code == .damaged)
      #expect(error.message.contains("line 2, column 1: the member “\(name)”"), "\(error)")
    }
  }
}
