import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport
import TestSupport
import Testing

/// Versions of one model that use a store one after the other.
@Suite("Versions of a model on every engine")
struct VersionTests {
  private static func user(_ fields: [FieldSchema] = [], indexes: [IndexSchema] = []) throws
    -> ModelDeclaration
  {
    ModelDeclaration(
      try ModelSchema(
        name: "User", fields: [FieldSchema("id", .int64)] + fields, key: ["id"], indexes: indexes))
  }

  private static let email = FieldSchema("email", .string)
  private static let unique = IndexSchema(["email"], isUnique: true)
  private static let plain = IndexSchema(["email"])

  /// Runs a closure with an empty store.
  private func withStorage(_ context: ContextUnderTest, _ body: (any StorageContext) throws -> Void) throws {
    try context.withScratch { context in
      let storage = try context.makeStore().open().storage
      try body(storage)
      try storage.close()
    }
  }

  /// Opens a store as a program with a declaration does.
  private func open(_ declaration: ModelDeclaration, _ storage: any StorageContext) throws {
    let fits = SchemaFits(location: storage.location)
    fits.declare(declaration)
    try storage.transaction { try fits.evolve(declaration.schema, limit: .rewrite, in: $0) }
  }

  /// Saves a record as a program with a declaration does that opened the store without a schema.
  private func save(
    _ values: PersistentValue..., by declaration: ModelDeclaration, _ storage: any StorageContext
  ) throws {
    let fits = SchemaFits(location: storage.location)
    fits.declare(declaration)
    let row = RowBuffer(count: values.count)
    row.set(values)
    try FittedContext(storage, fits).transaction { transaction in
      try transaction.define(declaration.schema)
      try row.withRow { try transaction.save($0, in: declaration.schema) }
    }
  }

  private func indexes(_ storage: any StorageContext) throws -> [IndexSchema] {
    try #require(try storage.schema(named: "User")).indexes
  }

  // MARK: - Removed fields

  @Test(
    "S1 S8 a removed required field leaves no unique index behind, and restored values may collide",
    arguments: ContextUnderTest.ours, [false, true])
  func removedUniqueField(context: ContextUnderTest, removesIndex: Bool) throws {
    try withStorage(context) { storage in
      let first = try Self.user([Self.email], indexes: [Self.unique])
      var second = try Self.user()
      second.removedFields = [.init("email")]
      if removesIndex { second.removedIndexes = [["email"]] }
      try open(first, storage)
      for (id, email) in [(1, "a"), (2, "b")] as [(Int64, String)] {
        try save(.integer(id), .text(email), by: first, storage)
      }
      try open(second, storage)
      for id in [3, 4] as [Int64] { try save(.integer(id), by: second, storage) }
      #expect(try indexes(storage) == [])
      let histories = try SchemaLedger.histories(storage)
      try open(second, storage)
      #expect(try SchemaLedger.histories(storage) == histories, "S6")

      let removed = try #require(try SchemaStore.removed(in: storage).first)
      try storage.transaction { try SchemaStore.restore(removed, in: $0) }
      let restored = try #require(try storage.schema(named: "User"))
      #expect(restored.fields == first.schema.fields)
      #expect(try storage.count(FetchRequest(restored)) == 4)
      guard !removesIndex else {
        try open(first, storage)
        #expect(try indexes(storage) == [], "the rule has removed the index")
        return
      }
      // The index is new again: it is refused while values collide, and then built.
      #expect(code { try open(first, storage) } == .uniqueViolation)
      try save(.integer(4), .text("d"), by: Self.user([Self.email]), storage)
      try open(first, storage)
      #expect(try indexes(storage) == [Self.unique])
      #expect(code { try save(.integer(5), .text("a"), by: first, storage) } == .uniqueViolation)
      try save(.integer(5), .text("e"), by: first, storage)
    }
  }

  @Test(
    "S1 the next write drops a unique index that an older package left over a removed field",
    arguments: ContextUnderTest.ours)
  func leftIndex(context: ContextUnderTest) throws {
    try withStorage(context) { storage in
      let hidden = ModelHistory.removedPrefix + "email"
      let stored = try Self.user(
        [FieldSchema(hidden, .string)], indexes: [IndexSchema([hidden], isUnique: true)])
      try storage.transaction { try $0.define(stored.schema) }
      let declaration = try Self.user()
      for id in [1, 2] as [Int64] { try save(.integer(id), by: declaration, storage) }
      #expect(try indexes(storage) == [])
    }
  }

  // MARK: - Removed indexes

  @Test(
    "W4 S4 a unique index that is declared again guards again, and an older version does not remove it",
    arguments: ContextUnderTest.ours)
  func redeclaredIndex(context: ContextUnderTest) throws {
    try withStorage(context) { storage in
      let first = try Self.user([Self.email], indexes: [Self.unique])
      var second = try Self.user([Self.email])
      second.removedIndexes = [["email"]]
      let note = FieldSchema("note", .string, isOptional: true)
      let third = try Self.user([Self.email, note], indexes: [Self.unique])
      try open(first, storage)
      try save(.integer(1), .text("a"), by: first, storage)
      try open(second, storage)
      #expect(try indexes(storage) == [])
      try open(first, storage)
      #expect(try indexes(storage) == [], "an older version does not add it")
      try open(third, storage)
      for version in [third, second, first] {
        try open(version, storage)
        #expect(try indexes(storage) == [Self.unique])
      }
      #expect(code { try save(.integer(2), .text("a"), by: second, storage) } == .uniqueViolation)
      let histories = try SchemaLedger.histories(storage)
      try open(third, storage)
      #expect(try SchemaLedger.histories(storage) == histories, "S6")
    }
  }

  @Test(
    "S4 a version that the store never met does not add an index that a newer one has removed",
    arguments: ContextUnderTest.ours, [false, true])
  func unknownIndex(context: ContextUnderTest, isNew: Bool) throws {
    try withStorage(context) { storage in
      let note = FieldSchema("note", .string, isOptional: true)
      var newer = try Self.user([Self.email, note])
      newer.removedIndexes = [["email"]]
      if !isNew { try open(Self.user([Self.email, note], indexes: [Self.unique]), storage) }
      try open(newer, storage)
      for id in [1, 2] as [Int64] { try save(.integer(id), .text("a"), .null, by: newer, storage) }
      let content = try SchemaLedger.histories(storage)
      let older = try Self.user([Self.email], indexes: [Self.unique])
      try open(older, storage)
      try save(.integer(3), .text("a"), by: older, storage)
      #expect(try indexes(storage) == [])
      #expect(try SchemaLedger.histories(storage) == content, "an older version changes nothing")
    }
  }

  @Test(
    "W4 S4 a removed index comes back with a version that has all fields, one of them from after the removal",
    arguments: ContextUnderTest.ours, [false, true])
  func grownModel(context: ContextUnderTest, isNew: Bool) throws {
    try withStorage(context) { storage in
      let first = try Self.user([Self.email], indexes: [Self.unique])
      var second = try Self.user([Self.email])
      second.removedIndexes = [["email"]]
      let note = FieldSchema("note", .string, isOptional: true)
      let third = try Self.user([Self.email, note])
      let fourth = try Self.user([Self.email, note], indexes: [Self.unique])
      if !isNew { try open(first, storage) }
      for version in [second, third, first] { try open(version, storage) }
      #expect(try indexes(storage) == [], "an older version does not add it")
      try save(.integer(1), .text("a"), .null, by: third, storage)
      for version in [fourth, third, second, first, fourth] {
        try open(version, storage)
        #expect(try indexes(storage) == [Self.unique])
      }
      #expect(code { try save(.integer(2), .text("a"), .null, by: third, storage) } == .uniqueViolation)
    }
  }

  @Test(
    "S6 S9 a rule that ends uniqueness leaves the declared index, in earlier stores and in new ones",
    arguments: ContextUnderTest.ours, [false, true])
  func endedUniqueness(context: ContextUnderTest, isNew: Bool) throws {
    try withStorage(context) { storage in
      let first = try Self.user([Self.email], indexes: [Self.unique])
      var second = try Self.user([Self.email], indexes: [Self.plain])
      second.removedIndexes = [["email"]]
      if !isNew {
        try open(first, storage)
        try save(.integer(1), .text("a"), by: first, storage)
      }
      try open(second, storage)
      let histories = try SchemaLedger.histories(storage)
      for _ in 0..<2 {
        #expect(try indexes(storage) == [Self.plain])
        try open(second, storage)
      }
      #expect(try SchemaLedger.histories(storage) == histories)
      try save(.integer(2), .text("a"), by: second, storage)
      if !isNew {
        try open(first, storage)
        #expect(try indexes(storage) == [Self.plain], "an older version does not add its index")
      }
    }
  }

  // MARK: - Fields that became required

  @Test(
    "S4 an older version that the store never met does not make a filled field optional again",
    arguments: ContextUnderTest.ours, [false, true])
  func unknownVersion(context: ContextUnderTest, isNew: Bool) throws {
    try withStorage(context) { storage in
      let optional = FieldSchema("email", .string, isOptional: true)
      let first = try Self.user([optional], indexes: [Self.plain])
      let between = try Self.user([optional])
      var second = try Self.user([Self.email])
      second.replacements = [StoredName("email"): .text("none")]
      if !isNew {
        try open(first, storage)
        try save(.integer(1), .null, by: first, storage)
      }
      try open(second, storage)
      #expect(code { try save(.integer(2), .null, by: between, storage) } == .schemaMismatch)
      #expect(try storage.schema(named: "User")?.field(named: "email") == Self.email)
      try save(.integer(3), .text("c"), by: second, storage)
    }
  }
}
