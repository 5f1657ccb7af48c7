import PersistenceCore
import PersistenceDriverSupport

/// S7: computed fields whose sources are computed or renamed.
enum ChainChecks {
  static let all: [ConformanceCheck] = [
    ConformanceCheck(
      ".compute takes a source from another .compute, however listed", [.s7, .s1],
      needs: [.writable, .droppingModels], chain),
    ConformanceCheck(
      "a version between leaves a chain of .compute the stored values", [.s7, .s6],
      needs: [.writable, .droppingModels], halfway),
    ConformanceCheck(
      ".compute finds a renamed source under each of its names, and keeps it", [.s7, .s1],
      needs: [.writable, .droppingModels], renamed),
    ConformanceCheck(
      "of several rules for a property, the first one whose sources exist computes it", [.s7],
      needs: [.writable, .droppingModels], alternatives),
    ConformanceCheck(
      "a chain of .compute is refused if it lacks a source or is a circle", [.s7],
      needs: [.writable, .droppingModels], refusals),
  ]

  private static let summary = EvolutionRule.compute(\Shelf.Chained.summary, from: "label", "half") { old in
    Shelf.Chained.summary(try old("label"), try old("half"))
  }

  private static let label = EvolutionRule.compute(
    \Shelf.Chained.label, \Shelf.Chained.half, from: "title", "pages"
  ) { old in
    let (title, pages): (String, Int32) = (try old("title"), try old("pages"))
    return ("\(title): \(pages)", pages > 3000 ? Double(pages) / 2 : nil)
  }

  enum Chained: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Chained.self]
    static let evolution: [EvolutionRule] = [summary, label]
  }

  private enum Listed: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Chained.self]
    static let evolution: [EvolutionRule] = [label, summary]
  }

  private enum NewName: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Tagged.self]
    static let evolution: [EvolutionRule] = [
      .compute(\Shelf.Tagged.tag, from: "name") { old in try Shelf.Tagged.tag(old("name")) }
    ]
  }

  private enum OldName: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Tagged.self]
    static let evolution: [EvolutionRule] = [
      .compute(\Shelf.Tagged.tag, from: "title") { old in try Shelf.Tagged.tag(old("title")) }
    ]
  }

  private enum Alternatives: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Chained.self]
    static let evolution: [EvolutionRule] = [
      .compute(\Shelf.Chained.summary, from: "heading") { old in try old("heading", as: String.self) },
      .compute(\Shelf.Chained.summary, from: "title", "label") { old in
        let (title, label): (String, String) = (try old("title"), try old("label"))
        return "\(title) = \(label)"
      },
      summary, label,
    ]
  }

  private enum Rootless: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Chained.self]
    static let evolution: [EvolutionRule] = [
      summary,
      .compute(\Shelf.Chained.label, \Shelf.Chained.half, from: "heading") { old in (try old("heading"), nil)
      },
    ]
  }

  private enum Circular: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Shelf.Chained.self]
    static let evolution: [EvolutionRule] = [
      summary,
      .compute(\Shelf.Chained.label, \Shelf.Chained.half, from: "summary") { old in (try old("summary"), nil)
      },
    ]
  }

  @Sendable private static func chain(_ context: ContextUnderTest) throws {
    let expected = Shelf.First.samples(50).map { Shelf.Chained($0) }
    for schema in [Chained.self, Listed.self] as [any StoreSchema.Type] {
      var (store, repository) = try RuleChecks.filled(context, count: 50)
      try repository.evolved(schema)
      for isReopened in [false, true] {
        if isReopened, try !store.reopen(&repository) { break }
        try repository.evolved(schema)
        try expect(Array(repository.fetch(Shelf.Chained.self)), equals: expected, "\(schema)")
        let third = expected[2]
        let found = try repository.filter(Shelf.Chained.self, where: \.summary == third.summary).ids()
        try expect(found, equals: [3], "the index")
        try expectError(.newerStore, "the first version") { try repository.fetch(Shelf.First.self) }
      }
    }
  }

  @Sendable private static func halfway(_ context: ContextUnderTest) throws {
    let (_, repository) = try RuleChecks.filled(context)
    try repository.evolved(RuleChecks.Labeled.self)
    try repository.write(Shelf.Labeled.self, id: 2) { $0.label = "changed" }
    try repository.evolved(Chained.self)
    var expected = Shelf.First.samples(10).map { Shelf.Chained($0) }
    expected[1].label = "changed"
    expected[1].summary = Shelf.Chained.summary("changed", expected[1].half)
    try expect(Array(repository.fetch(Shelf.Chained.self)), equals: expected)
  }

  @Sendable private static func renamed(_ context: ContextUnderTest) throws {
    let expected = Shelf.First.samples(10).map { Shelf.Tagged($0) }
    for schema in [NewName.self, OldName.self] as [any StoreSchema.Type] {
      for isRenamed in [false, true] {
        let (_, repository) = try RuleChecks.filled(context)
        if isRenamed { try repository.evolved(OlderVersionChecks.Renamed.self) }
        try repository.evolved(schema)
        try repository.evolved(schema)
        let place = "\(schema), \(isRenamed ? "renamed before" : "renamed now")"
        try expect(Array(repository.fetch(Shelf.Tagged.self)), equals: expected, place)
        try expect(repository.removedFields().map(\.name), equals: [], place)
      }
    }
  }

  @Sendable private static func alternatives(_ context: ContextUnderTest) throws {
    let (_, repository) = try RuleChecks.filled(context)
    try repository.evolved(Alternatives.self)
    let summaries = Shelf.First.samples(10).map { "\($0.title) = \($0.title): \($0.pages)" }
    try expect(repository.fetch(Shelf.Chained.self).map(\.summary), equals: summaries)
  }

  @Sendable private static func refusals(_ context: ContextUnderTest) throws {
    let (_, repository) = try RuleChecks.filled(context)
    let before = try StoredContent(repository.storage)
    let rootless = try expectError(.schemaMismatch) { try repository.evolved(Rootless.self) }
    try expect(rootless.differences.map(\.field?.name), equals: ["summary", "label", "half"])
    try expect(rootless.differences.allSatisfy { $0.kind == .source("heading") }, "\(rootless)")
    let circular = try expectError(.schemaMismatch, "a circle") { try repository.evolved(Circular.self) }
    try expect(circular.differences.map(\.field?.name), equals: ["summary", "label", "half"])
    try expect(StoredContent(repository.storage), equals: before)
  }
}
