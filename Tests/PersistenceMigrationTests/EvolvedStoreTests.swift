import Foundation
import MigrationStores
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceMigration
import Testing

/// Stores whose schema has changed: with removed fields and models, and between two versions.
@Suite("Migration of evolved stores")
struct EvolvedStoreTests {
  private struct Stop: Error {}

  struct Pair: Sendable, CustomTestStringConvertible {
    var from: String
    var to: String
    var testDescription: String { "\(from) to \(to)" }
  }

  static let pairs = TestStores.all.flatMap { from in TestStores.all.map { Pair(from: from, to: $0) } }

  /// The model in its first version.
  private static func first() throws -> ModelSchema {
    try ModelSchema(
      name: "Movie",
      fields: [
        FieldSchema("id", .int64), FieldSchema("title", .string),
        FieldSchema("nick", .string, isOptional: true), FieldSchema("length", .string),
        FieldSchema("cost", .double),
      ], key: ["id"], indexes: [IndexSchema(["title"]), IndexSchema(["nick"])])
  }

  /// The second version: the model and `cost` are renamed, `rating` is new, `nick` and `length` are removed.
  private static func second() throws -> ModelDeclaration {
    let schema = try ModelSchema(
      name: "Film",
      fields: [
        FieldSchema("id", .int64), FieldSchema("title", .string), FieldSchema("budget", .double),
        FieldSchema("rating", .int64),
      ], key: ["id"], indexes: [IndexSchema(["title"])])
    var declaration = ModelDeclaration(
      schema, formerNames: ["Movie"],
      fields: [.init(), .init(), .init(formerNames: ["cost"]), .init(fill: .integer(3))])
    declaration.removedFields = [.init("nick"), .init("length")]
    return declaration
  }

  private static func draft() throws -> ModelSchema {
    try ModelSchema(
      name: "Draft", fields: [FieldSchema("id", .int64), FieldSchema("text", .string)], key: ["id"])
  }

  private static func row(_ id: Int) -> [PersistentValue] {
    [
      .integer(Int64(id)), .text("t\(id % 7)"), id % 3 == 0 ? .null : .text("n\(id)"), .text("1:\(id)"),
      .double(Double(id) / 4),
    ]
  }

  /// The same record in the second version.
  private static func film(_ id: Int, rating: Int = 3) -> [PersistentValue] {
    [.integer(Int64(id)), .text("t\(id % 7)"), .double(Double(id) / 4), .integer(Int64(rating))]
  }

  private static func insert(_ rows: [[PersistentValue]], _ schema: ModelSchema, in store: any StorageContext)
    throws
  {
    try store.transaction { transaction in
      try transaction.define(schema)
      let buffer = RowBuffer(count: schema.fields.count)
      for row in rows {
        buffer.set(row)
        try buffer.withRow { try transaction.insert($0, in: schema) }
      }
    }
  }

  private static func evolve(_ store: any StorageContext) throws {
    let declaration = try second()
    try store.transaction { transaction in
      let fits = SchemaFits(location: store.location)
      fits.declare(declaration)
      try fits.evolve(declaration.schema, limit: .rewrite, in: transaction)
      try SchemaFits.remove("Draft", formerNames: [], in: transaction)
    }
  }

  /// A store of the first version, opened by the second one.
  private static func evolved(_ engine: String, _ path: String, ids: ClosedRange<Int>) throws
    -> any StorageContext
  {
    let store = try TestStores.open(engine, path)
    try insert(ids.map(row), first(), in: store)
    try insert([[.integer(1), .text("draft")]], draft(), in: store)
    try evolve(store)
    return store
  }

  /// The rows of a model as programs see them.
  private static func rows(_ store: any StorageContext, _ name: String = "Film") throws
    -> [[PersistentValue]]
  {
    let snapshot = try store.snapshot().hidingRemovedFields()
    let schema = try #require(try snapshot.schema(named: name))
    var rows: [[PersistentValue]] = []
    _ = try snapshot.fetch(FetchRequest(schema)).read(from: 0, limit: .max) { rows.append(try $0.values()) }
    return try sorted(rows, schema)
  }

  /// The rows with their values in the order of the second version, as far as it declares them.
  private static func sorted(_ rows: [[PersistentValue]], _ schema: ModelSchema) throws -> [[PersistentValue]]
  {
    let known = try second().schema.fields.map(\.name)
    let names = known + schema.fields.map(\.name).filter { !known.contains($0) }
    let positions = names.compactMap { schema.position(of: $0) }
    return rows.map { row in positions.map { row[$0] } }
  }

  @Test("S8 a copy has the visible fields and models, and nothing that was removed", arguments: pairs)
  func source(pair: Pair) throws {
    try TestStores.withFolder { folder in
      let source = try Self.evolved(pair.from, folder.appendingPathComponent("from").path, ids: 1...60)
      let destination = try TestStores.open(pair.to, folder.appendingPathComponent("to").path)
      let report = try Migration(
        from: source, to: destination, options: MigrationOptions(batchSize: 16, verification: .full)
      ).run()
      #expect(report.counts.written == 60)
      #expect(try Self.rows(destination) == (1...60).map { Self.film($0) })
      let catalog = try destination.catalog()
      #expect(catalog.map(\.name) == ["Film"])
      #expect(Set(catalog[0].fields) == Set(try Self.second().schema.fields))
      #expect(catalog[0].indexes == [IndexSchema(["title"])])
      #expect(try SchemaStore.removed(in: destination).isEmpty)
      #expect(try SchemaStore.removed(in: source).map(\.name) == ["Film.length", "Film.nick", "Draft"])
      #expect(try StoreComparison(source, destination).run().isEqual)
      try source.close()
      try destination.close()
    }
  }

  @Test("S1 S8 a copy into a store with removed fields keeps their values", arguments: pairs)
  func destination(pair: Pair) throws {
    try TestStores.withFolder { folder in
      let source = try TestStores.open(pair.from, folder.appendingPathComponent("from").path)
      try Self.insert((41...80).map { Self.film($0, rating: 5) }, Self.second().schema, in: source)
      let destination = try Self.evolved(pair.to, folder.appendingPathComponent("to").path, ids: 1...60)
      let refusal = #expect(throws: PersistenceError.self) {
        try Migration(from: source, to: destination).run()
      }
      #expect(refusal?.code == .destinationNotEmpty)
      let report = try Migration(
        from: source, to: destination,
        options: MigrationOptions(batchSize: 16, conflicts: .replace, verification: .digest)
      ).run()
      #expect(report.counts.replaced == 20 && report.counts.written == 20)
      try destination.requireComplete()
      let expected = (1...80).map { Self.film($0, rating: $0 > 40 ? 5 : 3) }
      #expect(try Self.rows(destination) == expected)
      #expect(try SchemaStore.removed(in: destination).map(\.name) == ["Film.length", "Film.nick", "Draft"])
      try destination.transaction { transaction in
        for removed in try SchemaStore.removed(in: transaction) where removed.field != nil {
          try SchemaStore.restore(removed, in: transaction)
        }
      }
      // Restored fields follow the declared ones, in any order.
      let schema = try #require(try destination.schema(named: "Film"))
      let (nick, length) = (
        try #require(schema.position(of: "nick")), try #require(schema.position(of: "length"))
      )
      var found: [[PersistentValue]] = []
      _ = try destination.fetch(FetchRequest(schema)).read(from: 0, limit: .max) { row in
        found.append([try row.value(at: nick), try row.value(at: length)])
      }
      #expect(found == (1...80).map { $0 <= 60 ? Array(Self.row($0)[2...3]) : [.null, .text("")] })
      try source.close()
      try destination.close()
    }
  }

  @Test("a copy into an evolved store is resumed after an interruption", arguments: TestStores.all)
  func resumed(engine: String) throws {
    try TestStores.withFolder { folder in
      let source = try TestStores.open("memory", "")
      try Self.insert((1...60).map { Self.film($0) }, Self.second().schema, in: source)
      let destination = try Self.evolved(engine, folder.appendingPathComponent("to").path, ids: 1...10)
      try destination.transaction { transaction in
        _ = try transaction.deleteAll(in: try #require(try transaction.schema(named: "Film")))
      }
      var options = MigrationOptions(batchSize: 16)
      #expect(throws: Stop.self) {
        try Migration(from: source, to: destination, options: options).run { progress in
          if progress.phase == .copying, progress.done > 0 { throw Stop() }
        }
      }
      #expect(throws: PersistenceError.self) { try destination.requireComplete() }
      options.start = .resume
      _ = try Migration(from: source, to: destination, options: options).run()
      try destination.requireComplete()
      #expect(try Self.rows(destination) == (1...60).map { Self.film($0) })
      try destination.close()
    }
  }

  @Test("S3 a copy does not give removed or earlier names again", arguments: TestStores.all)
  func removedNames(engine: String) throws {
    try TestStores.withFolder { folder in
      let destination = try Self.evolved(engine, folder.appendingPathComponent("to").path, ids: 1...5)
      for schema in [try Self.draft(), try Self.first()] {
        let source = MemoryContext()
        let row: [PersistentValue] = schema.name == "Draft" ? [.integer(2), .text("new")] : Self.row(2)
        try Self.insert([row], schema, in: source)
        let error = #expect(throws: PersistenceError.self) {
          try Migration(from: source, to: destination, options: MigrationOptions(conflicts: .replace)).run()
        }
        #expect(error.map { [.schemaMismatch, .newerStore].contains($0.code) } == true, "\(schema.name)")
        #expect(schema.name == "Draft" || error?.message.contains("“Film” now") == true)
      }
      try destination.requireComplete()
      #expect(try Self.rows(destination) == (1...5).map { Self.film($0) })
      try destination.close()
    }
  }

  @Test(
    "StoreMove takes removed values and waiting writes along; the next opening with the schema changes nothing"
  )
  func moved() throws {
    try TestStores.withFolder { folder in
      let (old, new) = (
        folder.appendingPathComponent("old").path, folder.appendingPathComponent("new").path
      )
      let source = try Self.evolved("json", old, ids: 1...40)
      let removed = try SchemaStore.removed(in: source)
      #expect(!removed.isEmpty)
      // As an outbox of layers in the same store.
      let outbox = try ModelSchema(
        name: ReservedModel.prefix + "outbox", fields: [FieldSchema("id", .int64)], key: ["id"])
      try source.transaction { transaction in
        try transaction.define(outbox)
        let row = RowBuffer(count: 1)
        row.set(.integer(7), at: 0)
        try row.withRow { try transaction.insert($0, in: outbox) }
      }
      try source.close()
      let move = StoreMove(
        from: { try TestStores.open("json", old) }, to: { try TestStores.open("sqlite", new) })
      for _ in 0..<2 {
        let store = try move.open()
        #expect(try Self.rows(store) == (1...40).map { Self.film($0) })
        #expect(try SchemaStore.removed(in: store) == removed)
        #expect(try store.count(FetchRequest(outbox)) == 1)
        try store.close()
      }
      // The store of the first version may be moved first and evolved afterwards.
      let store = try TestStores.open("lmdb", folder.appendingPathComponent("first").path)
      let first = MemoryContext()
      try Self.insert((1...40).map(Self.row), Self.first(), in: first)
      _ = try Migration(from: first, to: store).run()
      try Self.evolve(store)
      #expect(try Self.rows(store) == (1...40).map { Self.film($0) })
      try store.close()
    }
  }
}
