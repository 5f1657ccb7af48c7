import OurContexts
import PersistenceCore
import TestSupport
import Testing

@testable import PersistenceConformance

/// Versions of an app that leave a field behind without a rule, and say something new of references.
@Suite("References of versions that leave fields behind, on every engine")
struct LeftBehindFieldTests {
  /// Films without directors, and with another rule for studios.
  private enum Cascading: StoreSchema {
    static let models: [any PersistentRecord.Type] = [
      FilmVersion.Undirected.self, Studio.self, Performer.self,
    ]
  }

  private enum Settled: StoreSchema {
    static let models = Cascading.models
    static let evolution: [EvolutionRule] = [.orphans(\FilmVersion.Undirected.studio, .cascade)]
  }

  private enum Ended: StoreSchema {
    static let models: [any PersistentRecord.Type] = [FilmVersion.Early.self, Studio.self, Performer.self]
    static let evolution: [EvolutionRule] = [.remove(reference: \FilmVersion.Early.studio)]
  }

  /// A later version, which declares the reference to studios again.
  private enum Noted: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Annotated.self, Studio.self, Performer.self]

    struct Annotated: PersistentRecord {
      var id: Int
      var studio: Reference<Studio>
      var title: String
      var note: String?

      static let schema = RecordSchema<Annotated>(
        "Film",
        fields: [
          .field("id", \.id), .field("studio", \.studio), .field("title", \.title), .field("note", \.note),
        ], key: [\.id])
      var primaryKey: Int { id }

      init(from row: borrowing Row) throws {
        (id, studio) = (try row.decode(at: 0), try row.decode(at: 1))
        (title, note) = (try row.decode(at: 2), try row.decode(at: 3))
      }

      func encode(into row: RowBuffer) throws {
        row.encode(id, at: 0)
        row.encode(studio, at: 1)
        row.encode(title, at: 2)
        row.encode(note, at: 3)
      }
    }
  }

  /// A version from before titles and directors, with the first rule.
  private enum Untitled: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Bare.self, Studio.self, Performer.self]

    struct Bare: PersistentRecord {
      var id: Int
      var studio: Reference<Studio>

      static let schema = RecordSchema<Bare>(
        "Film", fields: [.field("id", \.id), .field("studio", \.studio)], key: [\.id])
      var primaryKey: Int { id }

      init(from row: borrowing Row) throws { (id, studio) = (try row.decode(at: 0), try row.decode(at: 1)) }

      func encode(into row: RowBuffer) throws {
        row.encode(id, at: 0)
        row.encode(studio, at: 1)
      }
    }
  }

  /// Studios under a later name, which earlier declarations of studios do not fit any more.
  private enum Later: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Company.self]

    struct Company: PersistentRecord {
      var id: Int
      var name: String?

      static let schema = RecordSchema<Company>(
        "Company", was: ["Studio"], fields: [.field("id", \.id), .field("name", \.name)], key: [\.id])
      var primaryKey: Int { id }

      init(from row: borrowing Row) throws { (id, name) = (try row.decode(at: 0), try row.decode(at: 1)) }

      func encode(into row: RowBuffer) throws {
        row.encode(id, at: 0)
        row.encode(name, at: 1)
      }
    }
  }

  /// Runs a closure with a store of the version with references: two studios, two performers and three films.
  private func withReleased(_ context: ContextUnderTest, _ body: (Repository) throws -> Void) throws {
    try context.withScratch { context in
      let repository = try context.makeStore().open()
      try repository.evolved(FilmApp.Related.self)
      try IntegrityChecks.fill(repository)
      try repository.deleteAll(Role.self)
      try body(repository)
      try repository.close()
    }
  }

  @Test(
    "L2 S4 S6 an opening applies a new delete rule, which writes of older versions do not change back",
    arguments: ContextUnderTest.ours)
  func rule(context: ContextUnderTest) throws {
    try withReleased(context) { repository in
      try repository.evolved(Cascading.self)
      let changed = try StoredContent(repository.storage)
      try repository.evolved(Cascading.self)
      #expect(try StoredContent(repository.storage) == changed, "the same opening again")
      try repository.evolved(Untitled.self)
      #expect(try StoredContent(repository.storage) == changed, "an older version that the store never met")
      try repository.delete(Studio.self, id: 1)
      #expect(try repository.fetch(FilmVersion.Undirected.self).map(\.id) == [2])
      // A copy of the first version still runs.
      try repository.save(Film(4, studio: 2))
      try repository.delete(Studio.self, id: 2)
      #expect(try repository.count(Film.self) == 0)
    }
  }

  @Test("L2 S4 the opening that was last decides the delete rule", arguments: ContextUnderTest.ours)
  func lastRule(context: ContextUnderTest) throws {
    try withReleased(context) { repository in
      for _ in 0..<2 {
        try repository.evolved(Cascading.self)
        try repository.evolved(FilmApp.Related.self)
        #expect(code { try repository.delete(Studio.self, id: 1) } == .brokenReference)
      }
      try repository.evolved(Cascading.self)
      try repository.delete(Studio.self, id: 1)
      #expect(try repository.fetch(FilmVersion.Undirected.self).map(\.id) == [2])
      // Among versions that lack stored fields, an older one does not decide.
      try repository.evolved(Noted.self)
      #expect(code { try repository.delete(Studio.self, id: 2) } == .brokenReference)
      try repository.evolved(Cascading.self)
      #expect(code { try repository.delete(Studio.self, id: 2) } == .brokenReference)
    }
  }

  @Test(
    "L1 S4 an older version does not end a reference that a newer one has begun again",
    arguments: ContextUnderTest.ours)
  func begunAgain(context: ContextUnderTest) throws {
    try withReleased(context) { repository in
      try repository.evolved(Ended.self)
      try repository.evolved(Noted.self)
      let begun = try StoredContent(repository.storage)
      try repository.evolved(Ended.self)
      #expect(code { try repository.save(FilmVersion.Early(9, studio: 9)) } == .brokenReference)
      try repository.evolved(Noted.self)
      #expect(try StoredContent(repository.storage) == begun)
    }
  }

  @Test("L1 an opening finds orphans of a field that becomes a reference", arguments: ContextUnderTest.ours)
  func orphans(context: ContextUnderTest) throws {
    try context.withScratch { context in
      let repository = try context.makeStore().open()
      try repository.evolved(FilmApp.Plain.self)
      try repository.save(Studio(1))
      try repository.save(contentsOf: [PlainFilm(1, studio: 1), PlainFilm(2, studio: 9)])
      #expect(code { try repository.evolved(Cascading.self) } == .brokenReference)
      try repository.evolved(Settled.self)
      #expect(try repository.fetch(FilmVersion.Undirected.self).map(\.id) == [1])
      try repository.close()
    }
  }

  @Test("L1 S4 S6 an opening ends a reference", arguments: ContextUnderTest.ours)
  func ended(context: ContextUnderTest) throws {
    try withReleased(context) { repository in
      try repository.evolved(Ended.self)
      let ended = try StoredContent(repository.storage)
      try repository.evolved(Ended.self)
      #expect(try StoredContent(repository.storage) == ended)
      try repository.save(FilmVersion.Early(9, studio: 9))
      // A copy of the first version still runs.
      try repository.save(Film(10, studio: 10))
      try repository.delete(Performer.self, id: "ada")
      #expect(try repository.find(Film.self, id: 1)?.director == nil, "the other reference goes on")
    }
  }

  @Test(
    "L1 S4 a version that a renamed target has left behind keeps its references to it",
    arguments: ContextUnderTest.ours)
  func target(context: ContextUnderTest) throws {
    try withReleased(context) { repository in
      try repository.evolved(Later.self)
      #expect(code { try repository.save(Studio(3)) } == .newerStore)
      try repository.save(Film(4, studio: 1))
      #expect(code { try repository.save(Film(5, studio: 9)) } == .brokenReference)
      #expect(code { try repository.delete(Later.Company.self, id: 1) } == .brokenReference)
    }
  }
}
