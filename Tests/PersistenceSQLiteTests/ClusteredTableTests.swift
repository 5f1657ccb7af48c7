import Foundation
import PersistenceDriver
import PersistenceDriverSupport
import TestSupport
import Testing

@testable import PersistenceSQLite

/// Tables whose keys are texts, UUIDs or several fields, in today's layout and in that of version 0.1.
@Suite("Clustered tables")
struct ClusteredTableTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  enum Layout: CaseIterable {
    case clustered, rowIDs
  }

  /// A model of small records with a key of some form, and its rows by number.
  enum Form: String, CaseIterable {
    case text = "Text"
    case uuid = "UUID"
    case pair = "Pair"

    private var key: [FieldSchema] {
      switch self {
      case .text: [FieldSchema("id", .string)]
      case .uuid: [FieldSchema("id", .uuid)]
      case .pair: [FieldSchema("group", .string), FieldSchema("number", .int64)]
      }
    }

    func schema() throws -> ModelSchema {
      try ModelSchema(
        name: rawValue,
        fields: key + [
          FieldSchema("code", .int64), FieldSchema("rank", .int32, isOptional: true),
          FieldSchema("score", .double), FieldSchema("at", .date),
        ],
        key: key.map(\.name), indexes: [IndexSchema(["code"], isUnique: true), IndexSchema(["rank"])])
    }

    /// The keys of successive numbers are in no order.
    func key(_ number: Int) -> [PersistentValue] {
      let place = number * 7_919 % 20_011
      switch self {
      case .text: return [.text("key \(place)")]
      case .uuid:
        let (high, low) = (UInt8(place >> 8), UInt8(place & 255))
        return [.uuid(UUID(uuid: (high, low, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7)))]
      case .pair: return [.text("group \(place % 7)"), .integer(Int64(place))]
      }
    }

    func row(_ number: Int, score: Double? = nil) -> [PersistentValue] {
      let group = number % 9 == 0 ? PersistentValue.null : .integer(Int64(number % 10))
      let score = score ?? Double(number * 37 % 101)
      return key(number) + [.integer(Int64(number)), group, .double(score), .date(Double(number) / 3)]
    }
  }

  /// Opens an empty store whose table has a layout.
  private func open(_ form: Form, _ layout: Layout) throws -> SQLiteContext {
    let context = try scratch.open()
    try context.transaction { try $0.define(form.schema()) }
    guard layout == .rowIDs else { return context }
    try context.close()
    // Version 0.1 made the same tables and indexes with row IDs, and recorded the first format.
    let other = try Outsider(scratch.path())
    let statements = try other.texts(
      "SELECT sql FROM sqlite_schema WHERE tbl_name = '\(form.rawValue)' AND sql IS NOT NULL ORDER BY rowid")
    try other.execute("DROP TABLE \"\(form.rawValue)\"")
    for statement in statements { try other.execute(statement.replacing(" WITHOUT ROWID", with: "")) }
    try other.execute(
      "UPDATE persistence_catalog SET layout = replace(layout, '\"format\":3', '\"format\":1')")
    return try scratch.open()
  }

  /// The layout of a table by its definition in the file.
  private func layout(of table: String) throws -> Layout? {
    let definitions = try Outsider(scratch.path()).texts(
      "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = '\(table)'")
    return definitions.first.map { $0.hasSuffix(") WITHOUT ROWID") ? .clustered : .rowIDs }
  }

  private func formats() throws -> [String] {
    try Outsider(scratch.path()).texts("SELECT json_extract(layout, '$.format') FROM persistence_catalog")
  }

  private func findings(_ context: SQLiteContext) throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    try context.verify { findings.append($0) }
    return findings
  }

  private static let orders: [[FieldOrder]] = [
    [], [FieldOrder("rank")], [FieldOrder("rank", isDescending: true)], [FieldOrder("code")],
    [FieldOrder("score")], [FieldOrder("score", isDescending: true), FieldOrder("code")],
  ]

  /// Expects that two stores have the same rows in every order, at once and in pages.
  private func expectSame(
    _ context: SQLiteContext, _ reference: MemoryContext, _ schema: ModelSchema,
    location: SourceLocation = #_sourceLocation
  ) throws {
    for order in Self.orders {
      let request = try FetchRequest(schema, order: order)
      let expected = try reference.values(request)
      #expect(try context.values(request) == expected, sourceLocation: location)
      let results = try context.fetch(request)
      var pages: [[PersistentValue]] = []
      while try results.read(from: pages.count, limit: 37, { pages.append(try $0.values()) }) == 37 {}
      #expect(pages == expected, sourceLocation: location)
      #expect(try context.count(request) == expected.count, sourceLocation: location)
    }
  }

  @Test("models with small records and no integer key get tables WITHOUT ROWID", arguments: Form.allCases)
  func definition(form: Form) throws {
    let context = try open(form, .clustered)
    let key = form == .pair ? "\"group\" TEXT NOT NULL, \"number\" INTEGER" : "\"id\" TEXT"
    let columns = (form == .uuid ? "\"id\" UUID_BLOB" : key) + " NOT NULL, \"code\" INTEGER NOT NULL"
    let list = form == .pair ? "\"group\", \"number\"" : "\"id\""
    #expect(
      try Outsider(scratch.path()).texts("SELECT sql FROM sqlite_schema WHERE name = '\(form.rawValue)'") == [
        "CREATE TABLE \"\(form.rawValue)\" (\(columns), \"rank\" INTEGER, \"score\" REAL, "
          + "\"at\" REAL_SECONDS_SINCE_2001, PRIMARY KEY (\(list))) WITHOUT ROWID"
      ])
    #expect(try formats() == ["3"])
    #expect(try context.rowLayout(of: form.schema()) == .clustered)
  }

  @Test("other models keep row IDs, unless the app declares that their records are small")
  func rule() throws {
    func model(_ name: String, key: FieldKind, _ kinds: FieldKind...) throws -> ModelSchema {
      let fields = kinds.enumerated().map { FieldSchema("f\($0.offset)", $0.element) }
      return try ModelSchema(name: name, fields: [FieldSchema("id", key)] + fields, key: ["id"])
    }
    let doubles = (0..<30).map { FieldSchema("f\($0)", .double) }
    let layouts: [(ModelSchema, TableLayout)] = try [
      (model("Number", key: .int64, .double), .integerKey), (model("Text", key: .string, .string), .rowID),
      (model("Data", key: .uuid, .data), .rowID), (model("URL", key: .uuid, .url), .rowID),
      (model("Document", key: .string, .document), .rowID), (model("Small", key: .uuid, .uuid), .clustered),
      (ModelSchema(name: "Wide", fields: [FieldSchema("id", .uuid)] + doubles, key: ["id"]), .rowID),
      (model("Declared, too", key: .uuid, .string), .clustered),
      (model("DeclaredNumber", key: .int64, .string), .integerKey),
      (model(ReservedModel.fillLedger, key: .string, .int64), .rowID),
    ]
    let context = try scratch.open { $0.clusteredModels = ["Declared, too", "DeclaredNumber"] }
    for (schema, layout) in layouts {
      try context.transaction { try $0.define(schema) }
      #expect(try context.rowLayout(of: schema) == layout, "\(schema)")
    }
    #expect(try context.rowLayout(of: model("Absent", key: .uuid)) == nil)
  }

  @Test("the URL option clustered names models; a backslash escapes a comma")
  func option() throws {
    let opened = try StorageEngine.open(
      "sqlite:\(scratch.path())?clustered=One,Two%5C,three", engines: [.sqlite], monitoring: Monitoring())
    let context = try #require(opened as? SQLiteContext)
    let names = ["One", "Two,three", "Three"]
    for name in names {
      let schema = try ModelSchema(
        name: name, fields: [FieldSchema("id", .string), FieldSchema("text", .string)], key: ["id"])
      try context.transaction { try $0.define(schema) }
    }
    try context.close()
    #expect(try layout(of: "One") == .clustered && layout(of: "Two,three") == .clustered)
    #expect(try layout(of: "Three") == .rowIDs)
  }

  @Test(
    "W1 O2 R3 writes, orders and pages are the same in both layouts", arguments: Form.allCases,
    Layout.allCases)
  func records(form: Form, layout: Layout) throws {
    let schema = try form.schema()
    let context = try open(form, layout)
    let reference = MemoryContext()
    try reference.transaction { try $0.define(schema) }
    func both(_ body: (any StorageTransaction) throws -> Int) throws {
      var counts: [Int] = []
      for store in [context, reference] as [any StorageContext] {
        try store.transaction { counts.append(try body($0)) }
      }
      #expect(counts[0] == counts[1])
    }
    try both { transaction in
      for number in 0..<400 { try transaction.insert(form.row(number), in: schema) }
      return 400
    }
    #expect(try self.layout(of: schema.name) == layout)
    try expectSame(context, reference, schema)
    try both { transaction in
      for number in stride(from: 0, to: 400, by: 3) {
        try transaction.update(form.row(number, score: 1_000), in: schema)
        try transaction.save(form.row(number + 1, score: -1), in: schema)
      }
      return try transaction.delete(RecordKey(form.key(17)), in: schema) ? 1 : 0
    }
    let third = PredicateNode.comparison(field: "rank", .equal, .integer(3))
    let score = [FieldOrder("score", isDescending: true)]
    try both { try $0.delete(FetchRequest(schema, where: third, order: score, limit: 7, offset: 2)) }
    try both {
      try $0.update(
        UpdateRequest(
          FetchRequest(schema, order: score, limit: 9, offset: 3),
          set: [FieldAssignment("rank", .integer(77))]))
    }
    try expectSame(context, reference, schema)
    for number in [0, 1, 17, 399] {
      #expect(
        try context.values(RecordKey(form.key(number)), in: schema)
          == reference.values(RecordKey(form.key(number)), in: schema))
    }
    #expect(try findings(context) == [])
    try both { try $0.deleteAll(in: schema) }
    #expect(try context.count(FetchRequest(schema)) == 0)
  }

  @Test(
    "R3 an order of many rows that no index yields is read at any place", arguments: Form.allCases,
    Layout.allCases)
  func largeSort(form: Form, layout: Layout) throws {
    let schema = try form.schema()
    let context = try open(form, layout)
    let reference = MemoryContext()
    let rows = (0..<20_000).map { form.row($0) }
    try context.fill(schema, rows)
    try reference.fill(schema, rows)
    let request = try FetchRequest(schema, order: [FieldOrder("score")])
    let expected = try reference.values(request)
    let results = try context.fetch(request)
    for offset in [0, 3_000, 19_950, 9_000, 20_000] {
      var page: [[PersistentValue]] = []
      _ = try results.read(from: offset, limit: 100) { page.append(try $0.values()) }
      #expect(page == Array(expected.dropFirst(offset).prefix(100)), "from \(offset)")
    }
  }

  @Test("W4 conflicts of keys and unique fields are named", arguments: Form.allCases, Layout.allCases)
  func conflicts(form: Form, layout: Layout) throws {
    let schema = try form.schema()
    let context = try open(form, layout)
    try context.fill(schema, (0..<20).map { form.row($0) })
    let rows = try context.values(FetchRequest(schema))
    var taken = form.row(30)
    taken[form.key(30).count] = .integer(5)
    var moved = form.row(6)
    moved[form.key(6).count] = .integer(5)
    #expect(code { try context.transaction { try $0.insert(form.row(4), in: schema) } } == .duplicateKey)
    #expect(code { try context.transaction { try $0.insert(taken, in: schema) } } == .uniqueViolation)
    #expect(code { try context.transaction { try $0.save(taken, in: schema) } } == .uniqueViolation)
    #expect(code { try context.transaction { try $0.update(moved, in: schema) } } == .uniqueViolation)
    #expect(code { try context.transaction { try $0.update(form.row(30), in: schema) } } == .notFound)
    #expect(try context.values(FetchRequest(schema)) == rows)
    #expect(try findings(context) == [])
  }

  @Test("a query by key and its order need no other index", arguments: Form.allCases)
  func plans(form: Form) throws {
    let schema = try form.schema()
    let context = try open(form, .clustered)
    try context.fill(schema, (0..<100).map { form.row($0) })
    let key = PredicateNode.comparison(field: schema.key[0], .equal, form.key(3)[0])
    #expect(try context.plan(for: FetchRequest(schema, where: key)).access == .primaryKey)
    #expect(try context.plan(for: FetchRequest(schema)).ordering == .byAccess)
    for field in ["rank", "code"] {
      let plan = try context.plan(for: FetchRequest(schema, order: [FieldOrder(field)]))
      #expect(plan.access == .index([field]) && plan.ordering == .byAccess, "\(plan)")
    }
  }

  @Test("S1 changes of schema keep the layout", arguments: Form.allCases, Layout.allCases)
  func evolution(form: Form, layout: Layout) throws {
    let stored = try form.schema()
    let context = try open(form, layout)
    let format = layout == .clustered ? "3" : "2"
    try context.fill(stored, (0..<50).map { form.row($0) })
    let added = try EvolutionTests.adding(
      [(FieldSchema("note", .string, isOptional: true), .null), (FieldSchema("stars", .int64), .integer(5))],
      to: stored)
    #expect(try context.cost(of: added) == .catalog)
    try context.transaction { try $0.evolve(added) }
    #expect(try self.layout(of: stored.name) == layout)
    #expect(try formats() == [format])
    // Erasing a field moves the records to a new table.
    let position = try #require(added.target.position(of: "score"))
    var fields = added.target.fields
    fields.remove(at: position)
    let target = try ModelSchema(
      name: stored.name, fields: fields, key: stored.key, indexes: stored.indexes)
    let erased = try SchemaChange(
      from: added.target, to: target,
      sources: added.target.fields.indices.filter { $0 != position }.map { .field($0) })
    #expect(try context.cost(of: erased) == .rewrite)
    try context.transaction { try $0.evolve(erased) }
    #expect(try self.layout(of: stored.name) == layout)
    #expect(try formats() == [format])
    let reference = MemoryContext()
    try reference.fill(
      target,
      (0..<50).map { number in
        var row = form.row(number)
        row.remove(at: position)
        return row + [.null, .integer(5)]
      })
    for order in [[], [FieldOrder("rank")], [FieldOrder("code")]] as [[FieldOrder]] {
      let request = try FetchRequest(target, order: order)
      #expect(try context.values(request) == reference.values(request))
    }
    #expect(try findings(context) == [])
    // A table without records is made anew, in the same layout.
    try context.transaction { _ = try $0.deleteAll(in: target) }
    try context.transaction {
      try $0.evolve(EvolutionTests.adding([(FieldSchema("more", .double), .double(1))], to: target))
    }
    #expect(try self.layout(of: stored.name) == layout)
  }

  @Test("R2 U2 changes of other programs are seen and noticed", arguments: Form.allCases, Layout.allCases)
  func otherPrograms(form: Form, layout: Layout) throws {
    let schema = try form.schema()
    let context = try open(form, layout)
    try context.fill(schema, (0..<30).map { form.row($0) })
    let request = try FetchRequest(schema)
    let before = try context.snapshot()
    let rows = try before.values(request)
    let observer = try CommitObserver(request, in: context, keyLimit: 100)
    try context.observers.add(observer)
    defer { context.observers.remove(observer) }
    _ = try context.observers.look(observer, at: context)
    try Outsider(scratch.path()).execute("UPDATE \"\(schema.name)\" SET score = -5 WHERE code = 7")
    #expect(try context.observers.look(observer, at: context).changes.isUnknown)
    #expect(try context.values(RecordKey(form.key(7)), in: schema) == form.row(7, score: -5))
    #expect(try before.values(request) == rows)
    try context.transaction { try $0.save(form.row(7), in: schema) }
    let changes = try context.observers.look(observer, at: context).changes
    #expect(!changes.isUnknown && changes.entries.count == 1)
    #expect(try context.values(request) == rows)
  }

  @Test("verify reports an unreadable record by its key", arguments: Layout.allCases)
  func unreadable(layout: Layout) throws {
    let schema = try Form.text.schema()
    let context = try open(.text, layout)
    try context.fill(schema, (0..<300).map { Form.text.row($0) })
    try Outsider(scratch.path()).execute("UPDATE \"Text\" SET score = 'much' WHERE code IN (7, 8)")
    let objects = try findings(context).filter { $0.kind == .damaged }.map(\.object)
    #expect(objects.filter { $0.hasPrefix("Text ") }.count == 2, "\(objects)")
  }

  @Test("a table that another program made anew is read by its definition, not by the catalog's format")
  func madeAnew() throws {
    for (layout, format) in [(Layout.clustered, "1"), (.rowIDs, "3")] {
      let form = layout == .clustered ? Form.text : .pair
      let schema = try form.schema()
      let context = try open(form, layout)
      try context.fill(schema, (0..<40).map { form.row($0) })
      try context.execute(
        "UPDATE persistence_catalog SET layout = json_set(layout, '$.format', \(format)) "
          + "WHERE model = '\(schema.name)'")
      try context.close()
      let again = try scratch.open()
      let request = try FetchRequest(schema, order: [FieldOrder("score")], limit: 4)
      var count = 0
      try again.transaction { count = try $0.delete(request) }
      #expect(count == 4)
      #expect(try again.count(FetchRequest(schema)) == 36)
      try again.close()
    }
  }
}

extension StorageReader {
  /// The values of the row with a key; nil if there is none.
  fileprivate func values(_ key: RecordKey, in schema: ModelSchema) throws -> [PersistentValue]? {
    var values: [PersistentValue]?
    _ = try find(key, in: schema) { values = try $0.values() }
    return values
  }
}
