import PersistenceDriver
import PersistenceJSON
import Testing

/// Changes of schema that read or rewrite the record files.
struct EvolutionRewriteTests {
  private let place: TemporaryStore
  private let context: JSONDirectoryContext
  private let books = Books.schema
  private let identity: [SchemaChange.Source] = (0..<6).map { .field($0) }

  init() throws {
    place = try TemporaryStore()
    context = try place.open()
    try Books.fill(context, 100)
  }

  private func schema(
    _ fields: [FieldSchema]? = nil, indexes: [IndexSchema]? = nil, name: String = "Book"
  ) throws -> ModelSchema {
    try ModelSchema(
      name: name, fields: fields ?? books.fields, key: ["id"], indexes: indexes ?? books.indexes)
  }

  private func catalog() throws -> String { try place.text(".persistence/catalog.json") }

  @Test("a rename of an indexed field leaves the index valid, in a new process too")
  func indexSurvivesRename() throws {
    #expect(try context.ids(ofGenre: "none") == [])
    var fields = books.fields
    fields[2].name = "area"
    let target = try schema(
      fields,
      indexes: [
        IndexSchema(["area", "year"]), IndexSchema(["price"]), IndexSchema(["number"], isUnique: true),
      ])
    let change = try SchemaChange(from: books, to: target, sources: identity)
    #expect(try context.cost(of: change) == .catalog)
    #expect(try context.openings { try context.transaction { try $0.evolve(change) } } == 0)
    let query = try FetchRequest(target, where: .comparison(field: "area", .equal, .text("satire")))
    for context in [context, try place.open()] {
      var found: [Int64] = []
      #expect(try context.openings { found = try context.ids(query) } == 20)
      #expect(found == Books.ids(below: 100) { $0 % 5 == 3 })
    }
    try context.save(Books.row(3), in: target)
    #expect(throws: PersistenceError.self) {
      try context.save([.integer(200)] + Books.row(3).dropFirst(), in: target)
    }
  }

  @Test("an index on a field with a fill finds the records of before")
  func indexedFill() throws {
    let target = try schema(
      books.fields + [FieldSchema("stock", .int64)], indexes: books.indexes + [IndexSchema(["stock"])])
    let change = try SchemaChange(from: books, to: target, sources: identity + [.fill(.integer(5))])
    #expect(try context.cost(of: change) == .indexes)
    try context.transaction { transaction in
      try transaction.evolve(change)
      try transaction.save(Books.row(7) + [.integer(6)], in: target)
    }
    func ids(_ stock: Int64) throws -> [Int64] {
      try context.ids(FetchRequest(target, where: .comparison(field: "stock", .equal, .integer(stock))))
    }
    #expect(try ids(5).count == 99)
    #expect(try ids(6) == [7])
    #expect(try context.ids(FetchRequest(target)).count == 100)
  }

  @Test("a new unique index is enforced at once, also against records of the same transaction")
  func uniqueIndex() throws {
    let target = try schema(indexes: books.indexes + [IndexSchema(["title"], isUnique: true)])
    let change = try SchemaChange(from: books, to: target, sources: identity)
    #expect(try context.cost(of: change) == .indexes)
    func row(_ id: Int64, _ title: String) -> [PersistentValue] {
      [.integer(id), .text(title), .text("crime"), .null, .double(1), .null]
    }
    try context.transaction { transaction in
      try transaction.save(row(200, "Pending"), in: books)
      try transaction.evolve(change)
      for title in ["Pending", "Title 5"] {
        let error = try #require(throws: PersistenceError.self) {
          try transaction.insert(row(201, title), in: target)
        }
        #expect(error.code == .uniqueViolation)
      }
      try transaction.insert(row(201, "Other"), in: target)
    }
    #expect(throws: PersistenceError.self) { try context.save(row(202, "Other"), in: target) }
    #expect(throws: PersistenceError.self) { try place.open().save(row(202, "Title 9"), in: target) }
    #expect(try context.count(FetchRequest(target)) == 102)
  }

  @Test("a violation of a new unique index leaves everything as before")
  func violation() throws {
    let target = try schema(indexes: [IndexSchema(["genre"], isUnique: true)])
    let change = try SchemaChange(from: books, to: target, sources: identity)
    let before = try catalog()
    try context.transaction { transaction in
      let error = try #require(throws: PersistenceError.self) { try transaction.evolve(change) }
      #expect(error.code == .uniqueViolation && error.key != nil)
      #expect(try transaction.rows(of: books).count == 100)
      try transaction.save(Books.row(100), in: books)
      #expect(throws: PersistenceError.self) {
        try transaction.save([.integer(300)] + Books.row(5).dropFirst(), in: books)
      }
    }
    #expect(try catalog() == before)
    #expect(try context.ids(ofGenre: "satire").count == 20)
  }

  @Test("computed, replaced and erased values rewrite the files, in the folder of before")
  func rewrite() throws {
    let target = try schema(
      [
        FieldSchema("id", .int64), FieldSchema("length", .int64), FieldSchema("year", .int32),
        FieldSchema("number", .string, isOptional: true),
      ], indexes: [IndexSchema(["number"], isUnique: true)])
    let change = try SchemaChange(
      from: books, to: target,
      sources: [.field(0), .computed, .field(3, replacingNil: .integer(-1)), .field(5)]
    ) { row, computed in
      guard case .text(let title) = try row.value(at: 1) else { return }
      computed.set(.integer(Int64(title.utf8.count)), at: 0)
    }
    #expect(try context.cost(of: change) == .rewrite)
    let snapshot = try context.snapshot()
    try context.transaction { transaction in
      try transaction.save([.integer(100)] + Books.row(7).dropFirst().dropLast() + [.text("x")], in: books)
      try transaction.evolve(change)
      #expect(try transaction.rows(of: target).count == 101)
      for number in ["n5", "x"] {
        let error = try #require(throws: PersistenceError.self) {
          try transaction.insert([.integer(200), .integer(1), .integer(1), .text(number)], in: target)
        }
        #expect(error.code == .uniqueViolation)
      }
      _ = try transaction.delete(RecordKey([.integer(5)]), in: target)
      try transaction.insert([.integer(5), .integer(1), .integer(1), .text("n5")], in: target)
    }
    let seven: [PersistentValue] = [.integer(7), .integer(7), .integer(-1), .text("n7")]
    for context in [context, try place.open()] {
      #expect(try context.row(RecordKey([.integer(7)]), in: target) == seven)
      #expect(try context.count(FetchRequest(target)) == 101)
      #expect(throws: PersistenceError.self) {
        try context.save([.integer(200), .integer(1), .integer(1), .text("n9")], in: target)
      }
    }
    #expect(
      try place.text(Books.file(7))
        == "{\n  \"id\": 7,\n  \"length\": 7,\n  \"number\": \"n7\",\n  \"year\": -1\n}\n")
    #expect(try snapshot.rows(of: books) == (0..<100).map(Books.row))
    #expect(try catalog().contains("\"version\": 1"))
    #expect(try place.names(".persistence/stage") == [])
  }

  @Test("a failed computation leaves everything as before")
  func failedComputation() throws {
    struct Stop: Error {}
    var fields = books.fields
    fields[1].name = "length"
    let target = try schema(fields)
    var sources = identity
    sources[1] = .computed
    let change = try SchemaChange(from: books, to: target, sources: sources) { row, computed in
      guard row[0].integerValue < 50 else { throw Stop() }
      computed.set(.text("x"), at: 0)
    }
    try context.transaction { transaction in
      #expect(throws: Stop.self) { try transaction.evolve(change) }
      let rows = try transaction.rows(of: books)
      #expect(rows == (0..<100).map(Books.row))
    }
    #expect(try context.rows(of: books) == (0..<100).map(Books.row))
  }

  @Test("swapped names, and a float that becomes a double, rewrite the files")
  func otherRewrites() throws {
    let stored = try ModelSchema(
      name: "Pair", fields: [FieldSchema("id", .int64), FieldSchema("a", .float), FieldSchema("b", .float)],
      key: ["id"])
    let (a, b) = (PersistentValue.double(Double(Float(0.1))), PersistentValue.double(Double(Float(0.2))))
    try context.save([.integer(1), a, b], in: stored)
    let swapped = try SchemaChange(from: stored, to: stored, sources: [.field(0), .field(2), .field(1)])
    #expect(try context.cost(of: swapped) == .rewrite)
    try context.transaction { try $0.evolve(swapped) }
    #expect(try context.rows(of: stored) == [[.integer(1), b, a]])
    let doubles = try ModelSchema(
      name: "Pair", fields: [FieldSchema("id", .int64), FieldSchema("a", .double), FieldSchema("b", .float)],
      key: ["id"])
    let wider = try SchemaChange(from: stored, to: doubles, sources: [.field(0), .field(1), .field(2)])
    #expect(try context.cost(of: wider) == .rewrite)
    try context.transaction { try $0.evolve(wider) }
    #expect(try place.open().rows(of: doubles) == [[.integer(1), b, a]])
  }

  @Test("any change of an empty model costs only the catalog")
  func emptyModel() throws {
    let target = try schema([FieldSchema("id", .int64), FieldSchema("size", .int64)], indexes: [])
    let change = try SchemaChange(from: books, to: target, sources: [.field(0), .computed]) {
      $1.set(.integer(1), at: 0)
    }
    #expect(try context.cost(of: change) == .rewrite)
    try context.transaction { transaction in
      _ = try transaction.deleteAll(in: books)
      #expect(try transaction.cost(of: change) == .catalog)
      try transaction.evolve(change)
      try transaction.insert([.integer(1), .integer(2)], in: target)
    }
    #expect(try context.rows(of: target) == [[.integer(1), .integer(2)]])
    #expect(try place.names(Books.folder) == ["1.json"])
  }

  @Test("a field whose nils are replaced rewrites no file if no record is nil")
  func withoutNils() throws {
    var fields = books.fields
    fields[5].isOptional = false
    let target = try schema(fields)
    var sources = identity
    sources[5] = .field(5, replacingNil: .text("none"))
    let change = try SchemaChange(from: books, to: target, sources: sources)
    // The replacement may collide in the unique index.
    #expect(try context.cost(of: change) == .indexes)
    let before = try place.text(Books.file(1))
    try context.transaction { try $0.evolve(change) }
    #expect(try place.text(Books.file(1)) == before)
    #expect(try context.rows(of: target) == (0..<100).map(Books.row))
    #expect(throws: PersistenceError.self) {
      try context.save(Books.row(200).dropLast() + [.null], in: target)
    }
  }
}
