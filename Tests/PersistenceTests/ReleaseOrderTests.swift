import Foundation
import Logging
import Persistence
import PersistenceConformance
import Testing

/// Releases of an app whose models share names or refer to each other.
@Suite("Models of one release")
struct ReleaseOrderTests {
  fileprivate enum First: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Picture.self, Studio.self, Praise.self]

    @Persistent("Picture") struct Picture {
      var id: Int
      var studio: Int
    }
    @Persistent("Studio") struct Studio { var id: Int }
    // After Picture, whose orphans it refers to.
    @Persistent("Praise") struct Praise {
      var id: Int
      var picture: Int
    }
  }

  fileprivate enum Second: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Picture.self, First.Studio.self, Praise.self]
    static let evolution: [EvolutionRule] = [.orphans(\Picture.studio, .cascade)]

    @Persistent("Picture") struct Picture {
      var id: Int
      var studio: Reference<First.Studio>
    }
    @Persistent("Praise") struct Praise {
      var id: Int
      @OnDelete(.cascade) var picture: Reference<Picture>
    }
  }

  fileprivate enum Loose: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Clip.self, Act.self, First.Studio.self]

    @Persistent("Clip") struct Clip {
      var id: Int
      var act: Int?
    }
    @Persistent("Act") struct Act {
      var id: Int
      var studio: Int
    }
  }

  /// The deletion of an act makes clips orphans, whose reference comes first.
  fileprivate enum Bound: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Clip.self, Act.self, First.Studio.self]
    static let evolution: [EvolutionRule] = [
      .orphans(\Clip.act, .setNil), .orphans(\Act.studio, .cascade),
    ]

    @Persistent("Clip") struct Clip {
      var id: Int
      @OnDelete(.restrict) var act: Reference<Act>?
    }
    @Persistent("Act") struct Act {
      var id: Int
      var studio: Reference<First.Studio>
    }
  }

  fileprivate enum Replaced: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Film.self, Picture.self]

    @Persistent("Film", was: "Picture") struct Film {
      var id: Int
      var studio: Int
    }
    @Persistent("Picture") struct Picture {
      var id: Int
      var note: String?
    }
  }

  fileprivate enum Guarded: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Member.self]

    @Persistent("Member") struct Member {
      var id: Int
      @Unique var email: String
    }
  }

  fileprivate enum Open: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Member.self]
    static let evolution: [EvolutionRule] = [.remove(index: "email", of: "Member")]

    @Persistent("Member") struct Member {
      var id: Int
      var email: String
    }
  }

  fileprivate enum GuardedAgain: StoreSchema {
    static let models: [any PersistentRecord.Type] = [Member.self]

    @Persistent("Member") struct Member {
      var id: Int
      @Unique var email: String
      var note: String?
    }
  }

  @Test(
    "L2 orphans take with them what refers to them by references of the same release, in any order of models")
  func orphans() throws {
    let context = MemoryContext()
    let first = try Repository(context, schema: First.self)
    try first.save(First.Studio(id: 1))
    try first.save(contentsOf: [First.Picture(id: 1, studio: 1), First.Picture(id: 2, studio: 9)])
    try first.save(contentsOf: [First.Praise(id: 1, picture: 1), First.Praise(id: 2, picture: 2)])
    let second = try Repository(context, schema: Second.self)
    #expect(try second.fetch(Second.Picture.self).map(\.id) == [1])
    #expect(try second.fetch(Second.Praise.self).map(\.id) == [1])
  }

  @Test("L2 records that become orphans by the deletion of others are settled too")
  func laterOrphans() throws {
    let context = MemoryContext()
    let loose = try Repository(context, schema: Loose.self)
    try loose.save(contentsOf: [Loose.Act(id: 1, studio: 9)])
    try loose.save(contentsOf: [Loose.Clip(id: 1, act: 1), Loose.Clip(id: 2, act: 8)])
    let bound = try Repository(context, schema: Bound.self)
    #expect(try bound.count(Bound.Act.self) == 0)
    #expect(try bound.fetch(Bound.Clip.self).map(\.act) == [nil, nil])
  }

  @Test("S3 a model with the earlier name of another one is refused, and no record of that one changes")
  func sharedName() throws {
    let context = MemoryContext()
    let first = try Repository(context, schema: First.self)
    try first.save(First.Picture(id: 1, studio: 1))
    let before = try context.catalog()
    let error = #expect(throws: PersistenceError.self) { try Repository(context, schema: Replaced.self) }
    #expect(
      error?.code == .invalidSchema && error?.message.contains("Picture") == true,
      "\(String(describing: error))")
    #expect(try context.catalog() == before)
    #expect(try first.fetch(First.Picture.self).map(\.id) == [1])
  }

  @Test("S4 W4 a check finds a removed index that a release declares again, and stores do not get")
  func removedIndex() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("releases-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try SchemaHistory(of: Guarded.self, in: folder).record(as: "1.0.0")
    try SchemaHistory(of: Open.self, in: folder).record(as: "1.1.0")
    let error = #expect(throws: PersistenceError.self) {
      try SchemaHistory(of: Guarded.self, in: folder).record(as: "1.2.0")
    }
    #expect(
      error?.message.contains("Member, index unique (email): a release removed it") == true,
      "\(String(describing: error))")
    try SchemaHistory(of: GuardedAgain.self, in: folder).record(as: "1.2.0")
  }

  @Test("W4 S6 an opening logs a declared index that the store lacks")
  func absentIndex() throws {
    let log = LogRecorder()
    let monitoring = Monitoring(
      logger: log.logger(), slowRequest: .seconds(60), longHeldResult: .seconds(60))
    let context = MemoryContext(monitoring: monitoring)
    _ = try Repository(context, schema: Guarded.self)
    _ = try Repository(context, schema: Open.self)
    #expect(log.lines(.warning).isEmpty)
    _ = try Repository(context, schema: Guarded.self)
    #expect(log.lines(.warning).contains { $0.contains("unique (email)") })
  }
}
