import PersistenceDriver
import PersistenceDriverSupport
import PersistenceMigration
import Testing

@Suite("References of a destination")
struct ReferenceConflictTests {
  private func store(_ reference: StoredReference) throws -> MemoryContext {
    let context = MemoryContext()
    try context.transaction { transaction in
      for (name, fields) in [("Studio", ["id"]), ("Movie", ["id", "studio"])] {
        try transaction.define(
          ModelSchema(name: name, fields: fields.map { FieldSchema($0, .int64) }, key: ["id"]))
      }
      try ReferenceLedger.save(reference, in: transaction)
    }
    return context
  }

  private func save(_ values: [Int64], _ model: String, in context: MemoryContext) throws {
    let schema = try #require(try context.schema(named: model))
    let row = RowBuffer(count: values.count)
    row.set(values.map { .integer($0) })
    try context.transaction { transaction in
      try row.withRow { try transaction.insert($0, in: schema) }
    }
  }

  @Test(
    "L1 a copy into a store that has ended the reference checks none of its records",
    arguments: [MigrationOptions.Conflicts.skip, .replace])
  func ended(conflicts: MigrationOptions.Conflicts) throws {
    let ended = StoredReference(
      model: "Movie", field: "studio", target: "Studio", rule: .cascade, formerRules: [.cascade],
      isEnded: true)
    let source = try store(
      StoredReference(model: "Movie", field: "studio", target: "Studio", rule: .cascade))
    try save([1], "Studio", in: source)
    try save([1, 1], "Movie", in: source)
    let destination = try store(ended)
    try save([7, 99], "Movie", in: destination)
    let report = try Migration(
      from: source, to: destination, options: MigrationOptions(conflicts: conflicts)
    ).run()
    #expect(report.models.map(\.counts.written) == [1, 1])
    #expect(try ReferenceLedger.entries(destination.snapshot()) == [ended])
  }

  @Test(
    "L1 L2 a copy into a store that has the reference keeps the rule of that store",
    arguments: [MigrationOptions.Conflicts.skip, .replace], [true, false])
  func rules(conflicts: MigrationOptions.Conflicts, isEnded: Bool) throws {
    let kept = StoredReference(model: "Movie", field: "studio", target: "Studio", rule: .cascade)
    let other = StoredReference(
      model: "Movie", field: "studio", target: "Studio", rule: .restrict,
      formerRules: isEnded ? [.restrict] : [], isEnded: isEnded)
    let (source, destination) = (try store(other), try store(kept))
    _ = try Migration(from: source, to: destination, options: MigrationOptions(conflicts: conflicts)).run()
    #expect(try ReferenceLedger.entries(destination.snapshot()) == [kept])
    // A store without the reference gets it.
    let empty = MemoryContext()
    _ = try Migration(from: source, to: empty, options: MigrationOptions()).run()
    #expect(try ReferenceLedger.entries(empty.snapshot()) == [other])
  }

  @Test("L1 S4 an older version does not end a reference of a copy that a newer one has begun again")
  func copiedDeclarations() throws {
    var movie = SchemaDocument.Model(
      name: "Movie",
      fields: [.init(schema: FieldSchema("id", .int64)), .init(schema: FieldSchema("studio", .int64))],
      key: ["id"])
    let studio = SchemaDocument.Model(
      name: "Studio", fields: [.init(schema: FieldSchema("id", .int64))], key: ["id"])
    func open(_ context: MemoryContext, as movie: SchemaDocument.Model) throws {
      try context.keepingTransaction(.exclusive, declares: true) {
        try SchemaDocument(models: [movie, studio]).apply(in: $0, location: context.location)
      }
    }
    let (source, copy) = (MemoryContext(), MemoryContext())
    movie.fields[1].reference = .init(target: "Studio", rule: .cascade)
    try open(source, as: movie)
    var ended = movie
    (ended.fields[1].reference, ended.fields[1].endsReference) = (nil, true)
    try open(source, as: ended)
    movie.fields.append(.init(schema: FieldSchema("note", .string, isOptional: true)))
    try open(source, as: movie)
    _ = try Migration(from: source, to: copy, options: MigrationOptions()).run()
    for context in [source, copy] {
      try open(context, as: ended)
      #expect(try ReferenceLedger.references(context.snapshot()).map(\.model) == ["Movie"])
    }
  }
}
