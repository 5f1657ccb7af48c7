import Foundation
import MigrationStores
import PersistenceDriver
import PersistenceMigration
import Synchronization
import Testing

/// The old store is retired only if the new one has all of its records.
extension StoreMoveTests {
  private static func fill(_ app: App, pairCount: Int = 20) throws {
    let old = try app.old()
    try SampleStores.fill(old, pairCount: pairCount)
    try old.close()
  }

  private static func save(_ number: Int, _ value: Double, in app: App) throws {
    let old = try app.old()
    try SampleStores.save(
      [.integer(Int64(number)), .uuid(SampleStores.uuid(number)), .double(value)], SampleStores.pairs(),
      in: old)
    try old.close()
  }

  private static func count(_ store: any StorageContext) throws -> Int {
    try store.count(FetchRequest(SampleStores.pairs()))
  }

  /// A move whose retirement fails before or after it has removed something.
  private static func failing(_ app: App, removing: @escaping @Sendable () throws -> Void = {}) -> StoreMove {
    StoreMove(
      from: { try app.old() }, to: { try TestStores.open(app.to, app.newPath) },
      retiring: {
        try removing()
        throw Stop()
      })
  }

  @Test("An old store that was never moved is not retired, and no record is lost", arguments: pairs)
  func neverMoved(from: String, to: String) throws {
    try withApp(from, to) { app in
      let fresh = try app.move.open()
      try SampleStores.fill(fresh, pairCount: 3)
      try fresh.close()
      try Self.fill(app)
      for _ in 0..<2 {
        let error = #expect(throws: PersistenceError.self) { try app.move.open() }
        #expect(error?.code == .destinationNotEmpty, "\(String(describing: error))")
      }
      #expect(app.retired.load(ordering: .relaxed) == 0)
      let (old, new) = (try app.old(), try TestStores.open(to, app.newPath))
      #expect(try Self.count(old) == 20)
      #expect(try Self.count(new) == 3)
      try old.close()
      try new.close()
    }
  }

  @Test(
    "An old store that an older app changed after the move is not retired",
    arguments: TestStores.durable, ["value", "record", "model"])
  func changedAfterwards(from: String, change: String) throws {
    try withApp(from, from == "lmdb" ? "sqlite" : "lmdb") { app in
      try Self.fill(app)
      #expect(throws: Stop.self) { try Self.failing(app).open() }
      switch change {
      case "value": try Self.save(1, 4.5, in: app)
      case "record": try Self.save(1_000, 0, in: app)
      default:
        let old = try app.old()
        let notes = try ModelSchema(name: "Note", fields: [FieldSchema("id", .int64)], key: ["id"])
        try SampleStores.save([.integer(1)], notes, in: old)
        try old.close()
      }
      let error = #expect(throws: PersistenceError.self) { try app.move.open() }
      #expect(error?.code == .sourceChanged, "\(String(describing: error))")
      #expect(app.retired.load(ordering: .relaxed) == 0)
      // The records of both stores are there.
      let (old, new) = (try app.old(), try TestStores.open(app.to, app.newPath))
      #expect(try Self.count(old) == (change == "record" ? 21 : 20))
      #expect(try Self.count(new) == 20)
      try old.close()
      try new.close()
    }
  }

  @Test("What another process writes while the store is moved is not retired", arguments: TestStores.durable)
  func changedMeanwhile(from: String) throws {
    try withApp(from, from == "lmdb" ? "sqlite" : "lmdb") { app in
      try Self.fill(app)
      var isChanged = false
      let error = #expect(throws: PersistenceError.self) {
        try app.move.open { progress in
          guard progress.phase == .verifying, !isChanged else { return }
          isChanged = true
          try Self.save(1_000, 0, in: app)
        }
      }
      #expect(isChanged)
      #expect(error?.code == .sourceChanged, "\(String(describing: error))")
      #expect(app.retired.load(ordering: .relaxed) == 0)
      let old = try app.old()
      #expect(try Self.count(old) == 21)
      try old.close()
    }
  }

  @Test(
    "An interrupted retirement goes on at the next launch, whatever is left of the old store",
    arguments: ["json", "sqlite"], ["nothing", "records", "head"])
  func interruptedRetirement(from: String, removed: String) throws {
    try withApp(from, "lmdb") { app in
      try Self.fill(app)
      let failing = Self.failing(app) {
        let manager = FileManager.default
        switch removed {
        case "nothing": break
        case "records" where from == "json":
          let folder = URL(fileURLWithPath: app.oldPath)
          let models = try manager.contentsOfDirectory(atPath: app.oldPath).filter { !$0.hasPrefix(".") }
          for model in models {
            let files = try manager.contentsOfDirectory(atPath: folder.appendingPathComponent(model).path)
            for file in files.prefix(2) {
              try manager.removeItem(at: folder.appendingPathComponent(model).appendingPathComponent(file))
            }
          }
        case "head" where from == "json":
          try Data("x".utf8).write(to: URL(fileURLWithPath: app.oldPath + "/.persistence/catalog.json"))
        default:
          let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: app.oldPath))
          try handle.truncate(atOffset: removed == "head" ? 10 : 5_000)
          try handle.close()
        }
      }
      #expect(throws: Stop.self) { try failing.open() }
      for _ in 0..<2 {
        let store = try app.move.open()
        #expect(try Self.count(store) == 20)
        try store.close()
      }
      #expect(app.retired.load(ordering: .relaxed) == 1)
      #expect(!FileManager.default.fileExists(atPath: app.oldPath))
    }
  }

  private static func remove(_ numbers: [Int], in app: App) throws {
    let (old, pairs) = (try app.old(), try SampleStores.pairs())
    try old.transaction { transaction in
      for number in numbers {
        let key = RecordKey([.integer(Int64(number % 7)), .uuid(SampleStores.uuid(number))])
        let existed = try transaction.delete(key, in: pairs)
        #expect(existed)
      }
    }
    try old.close()
  }

  /// Expects that the next launch keeps the old store, with some records.
  private static func expectKept(_ app: App, count: Int) throws {
    for _ in 0..<2 {
      let error = #expect(throws: PersistenceError.self) { try app.move.open() }
      #expect(error?.code == .sourceChanged, "\(String(describing: error))")
    }
    #expect(app.retired.load(ordering: .relaxed) == 0)
    let old = try app.old()
    #expect(try Self.count(old) == count)
    try old.close()
  }

  @Test(
    "W5 What an older app changes after a retirement that removed nothing is not retired",
    arguments: TestStores.durable, [true, false])
  func changedAfterFailure(from: String, edits: Bool) throws {
    try withApp(from, from == "lmdb" ? "sqlite" : "lmdb") { app in
      try Self.fill(app)
      #expect(throws: Stop.self) { try Self.failing(app).open() }
      // Fewer records than were moved are no sign of an interrupted removal.
      if edits { try Self.save(1, 4.5, in: app) }
      try Self.remove([2, 3], in: app)
      try Self.expectKept(app, count: 18)
    }
  }

  @Test(
    "W5 A retirement goes on only if the new store has what is left of the old one",
    arguments: TestStores.durable, ["value", "record", "nothing"])
  func changedWhileRetiring(from: String, change: String) throws {
    try withApp(from, from == "lmdb" ? "sqlite" : "lmdb") { app in
      try Self.fill(app)
      // The retirement removes records before it fails, as one that is killed does.
      let failing = Self.failing(app) { try Self.remove([2, 3], in: app) }
      #expect(throws: Stop.self) { try failing.open() }
      switch change {
      case "value": try Self.save(1, 4.5, in: app)
      case "record": try Self.save(1_000, 0, in: app)
      default:
        try app.move.open().close()
        #expect(app.retired.load(ordering: .relaxed) == 1)
        return
      }
      try Self.expectKept(app, count: change == "record" ? 19 : 18)
    }
  }

  @Test("An old store that appears after the retirement is not taken for the one that was moved")
  func appearsAgain() throws {
    try withApp("json", "lmdb") { app in
      try Self.fill(app)
      try app.move.open().close()
      #expect(app.retired.load(ordering: .relaxed) == 1)
      try Self.fill(app, pairCount: 5)
      let error = #expect(throws: PersistenceError.self) { try app.move.open() }
      #expect(error?.code == .sourceChanged, "\(String(describing: error))")
      #expect(app.retired.load(ordering: .relaxed) == 1)
    }
  }

  @Test("Without a closure that retires it, an old store never fills an emptied new one again")
  func emptied() throws {
    try withApp("json", "lmdb") { app in
      try Self.fill(app)
      let move = StoreMove(from: { try app.old() }, to: { try TestStores.open(app.to, app.newPath) })
      let store = try move.open()
      try store.transaction { transaction in
        for schema in try transaction.catalog() where !schema.name.hasPrefix("persistence.") {
          _ = try transaction.deleteAll(in: schema)
        }
      }
      try store.close()
      let again = try move.open()
      #expect(try Self.count(again) == 0)
      try again.close()
    }
  }
}
