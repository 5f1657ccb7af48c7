import Foundation
import OurContexts
import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport
import Testing

@Suite("Fuzzing of schema changes")
struct FuzzEvolutionTests {
  private func program() throws -> FuzzProgram {
    let movie = try ModelSchema(
      name: "Movie",
      fields: [
        FieldSchema("id", .int64), FieldSchema("title", .string),
        FieldSchema("year", .int32, isOptional: true),
        FieldSchema("note", .string, isOptional: true),
      ], key: ["id"], indexes: [IndexSchema(["title"])])
    let film = try ModelSchema(
      name: "Film",
      fields: [
        FieldSchema("name", .string), FieldSchema("id", .int64), FieldSchema("year", .int64),
        FieldSchema("size", .int16), FieldSchema("origin", .string),
      ], key: ["id"], indexes: [IndexSchema(["name"]), IndexSchema(["year", "size"])])
    let small = try ModelSchema(
      name: "Movie", fields: [FieldSchema("id", .int64), FieldSchema("title", .string)], key: ["id"])
    let change = FuzzChange(
      to: 1,
      [
        .field(1), .field(0), .field(2, replacingNil: .integer(1900)), .computed(.length(of: 1)),
        .fill(.text("x")),
      ])
    let later = try ModelSchema(
      name: "Film",
      fields: [
        FieldSchema("origin", .string), FieldSchema("id", .int64), FieldSchema("name", .string),
        FieldSchema("year", .int64, isOptional: true),
      ], key: ["id"])
    var rows: [[PersistentValue]] = []
    for number in 0..<20 {
      let year: PersistentValue = number % 3 == 0 ? .null : .integer(2000)
      let note: PersistentValue = number % 2 == 0 ? .null : .text("n")
      rows.append([.integer(Int64(number)), .text("t\(number % 4)"), year, note])
    }
    let changed: [PersistentValue] = [
      .text("new"), .integer(3), .integer(5_000_000_000), .integer(2), .text("y"),
    ]
    let words = FuzzWords(was: "Movie", [.init("name", was: "title"), .init("origin", fill: .text("x"))])
    return FuzzProgram(
      schemas: [movie, film, small, later],
      steps: [
        .define(0), .saveMany(0, rows), .holdSnapshot(0), .holdResult(1, FuzzQuery(0)),
        .declared(FuzzWords(), .fetch(FuzzQuery(2, order: [FieldOrder("title")]))),
        .declared(FuzzWords(), .save(2, [.integer(4), .text("kept")])),
        .declared(FuzzWords(), .insert(2, [.integer(40), .text("added")])),
        .declared(FuzzWords(), .update(2, [.integer(41), .text("missing")])),
        .declared(words, .fetch(FuzzQuery(3, order: [FieldOrder("origin"), FieldOrder("name")]))),
        .declared(words, .save(3, [.text("x"), .integer(5), .text("later"), .integer(7)])),
        .declared(words, .save(3, [.text("other"), .integer(5), .text("later"), .integer(7)])),
        .transaction(
          [.evolve(0, change), .fetch(FuzzQuery(1)), .insert(0, rows[0]), .save(1, changed)], .rollback),
        .fetch(FuzzQuery(0)),
        .transaction(
          [.transaction([.evolve(0, change)], .rollback), .save(0, rows[0]), .evolve(0, change)], .commit),
        .save(1, changed), .evolve(0, change), .readHeld(0), .readHeld(1), .fetchHeld(0, FuzzQuery(1)),
        .declared(FuzzWords(was: "Film"), .fetch(FuzzQuery(2))),
        .reopen, .fetch(FuzzQuery(1, order: [FieldOrder("year"), FieldOrder("size")])),
      ])
  }

  @Test("all contexts change schemas like the reference model")
  func agreement() throws {
    for context in ContextUnderTest.ours { try program().run(on: context) }
  }

  @Test(
    "E2 S1 a key that its declaration does not allow is invalid, whether or not the declaration still fits")
  func invalidKeys() throws {
    func schema(_ name: String, isOptional: Bool = false) throws -> ModelSchema {
      try ModelSchema(
        name: name,
        fields: [FieldSchema("id", .int64), FieldSchema("title", .string, isOptional: isOptional)],
        key: ["id"])
    }
    let (movie, film, later) = try (schema("Movie"), schema("Film"), schema("Film", isOptional: true))
    let wrong: [PersistentValue] = [.integer(0), .integer(0)]
    let right: [PersistentValue] = [.integer(0)]
    func attempts() -> [FuzzStep] {
      [.delete(1, wrong), .find(1, wrong), .delete(1, right), .find(1, right)].map {
        .declared(FuzzWords(), $0)
      }
    }
    let program = FuzzProgram(
      schemas: [movie, film, later],
      steps: [.define(0)] + attempts() + [.evolve(0, FuzzChange(to: 1, [.field(0), .field(1)]))] + attempts()
        + [.evolve(1, FuzzChange(to: 2, [.field(0), .field(1)]))] + attempts() + [.reopen] + attempts())
    for context in ContextUnderTest.ours { try program.run(on: context) }
  }

  @Test("a program with changes can be encoded")
  func encoding() throws {
    let program = try program()
    let read = try JSONDecoder().decode(FuzzProgram.self, from: JSONEncoder().encode(program))
    #expect("\(read.steps)" == "\(program.steps)")
  }

  @Test("the fuzzer finds a context that forgets the fills of new fields")
  func forgottenFills() throws {
    let context = ContextUnderTest("forgetful") { _, _, _ in ForgetfulContext() }
    var fuzzer = Fuzzer(seed: 1, operations: 20_000)
    fuzzer.replayLimit = 500
    let source = try #require(try fuzzer.run(on: [context]).differences.first).testSource()
    #expect(source.contains(".evolve(") && source.contains("FuzzChange(to: "), "\(source)")
  }
}

extension FuzzEvolutionTests {
  @Test("S3 S4 L1 the fuzzer finds a store that forgets the past of its fields, and its references")
  func forgottenPast() throws {
    let context = ContextUnderTest("ledgerless") { _, _, _ in LedgerlessContext() }
    var fuzzer = Fuzzer(seed: 1, operations: 20_000)
    fuzzer.replayLimit = 300
    fuzzer.differenceLimit = 3
    let differences = try fuzzer.run(on: [context]).differences
    let related = try #require(differences.first { !$0.program.relations.isEmpty })
    #expect(related.expected.contains("brokenReference") && related.testSource().contains("FuzzRelation("))
    let difference = try #require(differences.first { $0.program.relations.isEmpty })
    let source = difference.testSource()
    #expect(source.contains("FuzzWords(past: try FuzzPast(json: "), "\(source)")
    #expect(throws: FuzzDifference.self) { try difference.program.run(on: context) }
    let read = try JSONDecoder().decode(FuzzProgram.self, from: JSONEncoder().encode(difference.program))
    #expect("\(read.steps)" == "\(difference.program.steps)")
  }
}

extension FuzzEvolutionTests {
  @Test(
    "S4 S8 a version that removed a field does not hide it under the name that a later version gave it",
    arguments: [[2, 1, 0], [0, 1, 2, 1, 0], [0, 2, 1, 2, 0]])
  func restoredAndRenamed(versions: [Int]) throws {
    let names = [["id", "note"], ["id"], ["id", "remark"]]
    let schemas = try names.map { names in
      let fields = names.map { FieldSchema($0, $0 == "id" ? .int64 : .string, isOptional: $0 != "id") }
      return try ModelSchema(name: "Movie", fields: fields, key: ["id"])
    }
    let words = try [
      #"{"formerNames":[],"fields":[{"number":0,"formerNames":[],"sources":[]},{"number":1,"formerNames":[],"sources":[]}],"removed":[]}"#,
      #"{"formerNames":[],"fields":[{"number":0,"formerNames":[],"sources":[]}],"removed":[{"name":"note","number":1,"formerNames":[]}]}"#,
      #"{"formerNames":[],"fields":[{"number":0,"formerNames":[],"sources":[]},{"number":1,"formerNames":["note"],"isRestored":true,"sources":[]}],"removed":[]}"#,
    ].map { FuzzWords(past: try FuzzPast(json: $0)) }
    var steps: [FuzzStep] = []
    for version in versions {
      steps.append(.declared(words[version], .define(version)))
      let key = PersistentValue.integer(Int64(steps.count))
      let row = version == 1 ? [key] : [key, .text("of version \(version)")]
      steps.append(.declared(words[version], .save(version, row)))
      steps.append(.declared(words[version], .fetch(FuzzQuery(version))))
    }
    let program = FuzzProgram(schemas: schemas, steps: steps)
    for context in ContextUnderTest.ours { try program.run(on: context) }
  }

  @Test(
    "S1 E4 a mapping that a rollback has made obsolete refuses no request", arguments: ContextUnderTest.ours)
  func obsoleteMapping(context: ContextUnderTest) throws {
    func schema(_ others: FieldSchema...) throws -> ModelSchema {
      try ModelSchema(name: "A", fields: others + [FieldSchema("e", .uuid)], key: ["e"])
    }
    let words = FuzzWords([FuzzWords.Field("f", was: "i")])
    let program = FuzzProgram(
      schemas: [
        try schema(FieldSchema("g", .float)),
        try schema(FieldSchema("i", .decimal), FieldSchema("g", .float)),
        try schema(FieldSchema("f", .decimal), FieldSchema("g", .double)),
      ],
      steps: [
        .define(0),
        .transaction(
          [
            .evolve(0, FuzzChange(to: 1, [.fill(.decimal(0)), .field(0), .field(1)])),
            .declared(words, .aggregate(FuzzQuery(2), [])),
          ], .rollback),
        // No float has this value.
        .declared(words, .updateRows(FuzzQuery(2), set: [FieldAssignment("g", .double(0.1))])),
      ])
    try program.run(on: context)
  }

  @Test(
    "S1 E4 a read by a schema from before two changes by another context", arguments: ContextUnderTest.ours)
  func severalChanges(context: ContextUnderTest) throws {
    let (optional, text) = (FieldSchema("key", .decimal, isOptional: true), FieldSchema("d", .string))
    let program = FuzzProgram(
      schemas: try [
        [optional, text, FieldSchema("a b", .decimal, isOptional: true)],
        [optional, text, FieldSchema("a b", .decimal)], [text, FieldSchema("a b", .decimal)],
      ].map { try ModelSchema(name: "A", fields: $0, key: ["d"]) },
      steps: [
        .define(0), .fetch(FuzzQuery(0)),
        .evolve(0, FuzzChange(to: 1, [.field(0), .field(1), .field(2, replacingNil: .decimal(0))])),
        .evolve(1, FuzzChange(to: 2, [.field(1), .field(2)])), .fetch(FuzzQuery(0)),
      ])
    try program.run(on: context)
  }

  @Test(
    "S1 V3 a change to another spelling of a field's name keeps the name", arguments: ContextUnderTest.ours)
  func otherSpelling(context: ContextUnderTest) throws {
    let program = FuzzProgram(
      schemas: try ["\u{E9}", "e\u{301}"].map { name in
        try ModelSchema(
          name: "B", fields: [FieldSchema("a", .uuid), FieldSchema(name, .data)], key: ["a"])
      }, steps: [.define(0), .evolve(0, FuzzChange(to: 1, [.field(0), .field(1)]))])
    try program.run(on: context)
  }
}

/// An in-memory store that keeps no records of reserved models, such as the histories of schemas.
private final class LedgerlessContext: StorageContextWrapper {
  let wrapped: any StorageContext = MemoryContext()

  func wrap(_ transaction: any StorageTransaction) -> any StorageTransaction {
    LedgerlessTransaction(transaction)
  }
}

private final class LedgerlessTransaction: StorageTransactionWrapper {
  let wrapped: any StorageTransaction

  init(_ wrapped: any StorageTransaction) { self.wrapped = wrapped }

  func save(_ row: borrowing Row, in schema: ModelSchema) throws {
    if !schema.isReserved { try wrapped.save(row, in: schema) }
  }
}

/// An in-memory store that fills new optional fields with nil.
private final class ForgetfulContext: StorageContextWrapper {
  let wrapped: any StorageContext = MemoryContext()

  func wrap(_ transaction: any StorageTransaction) -> any StorageTransaction {
    ForgetfulTransaction(transaction)
  }
}

private final class ForgetfulTransaction: StorageTransactionWrapper {
  let wrapped: any StorageTransaction

  init(_ wrapped: any StorageTransaction) { self.wrapped = wrapped }

  func evolve(_ change: SchemaChange) throws {
    let sources = zip(change.target.fields, change.sources).map { field, source in
      if case .fill = source, field.isOptional { SchemaChange.Source.fill(.null) } else { source }
    }
    try wrapped.evolve(
      SchemaChange(from: change.stored, to: change.target, sources: sources, compute: change.compute))
  }
}
