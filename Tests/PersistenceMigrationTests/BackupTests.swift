import Foundation
import MigrationStores
import PersistenceCore
import PersistenceDriver
import PersistenceDriverSupport
import PersistenceJSON
import PersistenceLMDB
import PersistenceMigration
import PersistenceSQLite
import TestSupport
import Testing

@Suite("Backup and restore")
struct BackupTests {
  private struct Stop: Error {}

  private static let engines: [StorageEngine] = [.sqlite, .lmdb, .json]

  /// A model of the package's own, and a removed field: a migration copies neither.
  private static func hidden() throws -> ModelSchema {
    try ModelSchema(
      name: ReservedModel.prefix + "notes",
      fields: [FieldSchema("id", .int64), FieldSchema(ReservedModel.prefix + "removed.text", .string)],
      key: ["id"])
  }

  /// A filled store, and the URL of a backup in another engine.
  private func withStore(
    _ engine: String, _ body: (any StorageContext, Repository, _ backup: String) throws -> Void
  ) throws {
    try TestStores.withFolder { folder in
      let store = try TestStores.open(engine, folder.appendingPathComponent("live").path)
      try SampleStores.fill(store, pairCount: 200)
      try SampleStores.save([.integer(1), .text("kept")], Self.hidden(), in: store)
      let other = engine == "sqlite" ? "lmdb" : "sqlite"
      try body(store, Repository(store), "\(other):\(folder.appendingPathComponent("backup").path)")
      try store.close()
    }
  }

  private func pairs(in store: any StorageContext) throws -> Int {
    try store.count(FetchRequest(SampleStores.pairs()))
  }

  private func addPair(to store: any StorageContext) throws {
    try SampleStores.save([.integer(1000), .uuid(UUID()), .double(0)], SampleStores.pairs(), in: store)
  }

  @Test("a backup holds all of one moment, and restoring brings it back", arguments: TestStores.durable)
  func roundTrip(engine: String) throws {
    try withStore(engine) { store, repository, backup in
      let catalog = try store.catalog()
      var isChanged = false
      let report = try repository.backup(to: backup, engines: Self.engines) { _ in
        if !isChanged { try addPair(to: store) }
        isChanged = true
      }
      #expect(report.models.map(\.name).sorted() == ["Pair", "every/kind é"])
      #expect(try report.counts.written == 200 + SampleStores.rows().count)
      #expect(try pairs(in: store) == 201)
      let copy = try #require(
        try StorageEngine.open(backup, engines: Self.engines, monitoring: Monitoring()).asStorageContext)
      #expect(try pairs(in: copy) == 200 && copy.catalog() == catalog)
      try copy.close()
      #expect(code { try repository.backup(to: backup, engines: Self.engines) } == .destinationNotEmpty)

      #expect(
        code { try repository.restore(from: backup, engines: Self.engines) } == .destinationNotEmpty)
      #expect(try pairs(in: store) == 201)
      try repository.restore(from: backup, engines: Self.engines, replacingContent: true)
      try store.requireComplete()
      #expect(try pairs(in: store) == 200 && store.catalog() == catalog)
      var note: [PersistentValue]?
      let isFound = try store.find(RecordKey([.integer(1)]), in: Self.hidden()) { note = try $0.values() }
      #expect(isFound && note == [.integer(1), .text("kept")])
    }
  }

  @Test(
    "interrupted, a backup and a restored store are incomplete until the next attempt",
    arguments: TestStores.durable)
  func interrupted(engine: String) throws {
    try withStore(engine) { store, repository, backup in
      func stop(_ progress: StoreProgress) throws { if progress.phase == .copying { throw Stop() } }
      #expect(throws: Stop.self) { try repository.backup(to: backup, engines: Self.engines, stop) }
      #expect(
        code { try repository.restore(from: backup, engines: Self.engines, replacingContent: true) }
          == .incompleteStore)
      #expect(try pairs(in: store) == 200)
      try repository.backup(to: backup, engines: Self.engines)
      try addPair(to: store)
      #expect(throws: Stop.self) {
        try repository.restore(from: backup, engines: Self.engines, replacingContent: true, stop)
      }
      #expect(code { try store.requireComplete() } == .incompleteStore)
      try repository.restore(from: backup, engines: Self.engines)
      try store.requireComplete()
      #expect(try pairs(in: store) == 200)
    }
  }

  @Test("a damaged or empty backup, or the store itself, replaces nothing")
  func useless() throws {
    try withStore("json") { store, repository, backup in
      func restoring(_ url: String) -> PersistenceError.Code? {
        code { try repository.restore(from: url, engines: Self.engines, replacingContent: true) }
      }
      let path = try StoreURL(backup).path
      try repository.backup(to: "json:\(path)", engines: Self.engines)
      let name = try #require(try FileManager.default.contentsOfDirectory(atPath: "\(path)/Pair").first)
      try Data("{".utf8).write(to: URL(fileURLWithPath: "\(path)/Pair/\(name)"))
      #expect(restoring("json:\(path)") == .damaged)
      try StorageEngine.open("json:\(path)-empty", engines: Self.engines, monitoring: Monitoring())
        .asStorageContext?.close()
      #expect(restoring("json:\(path)-empty") == .missingStore)
      #expect(restoring("json:\(store.location)/.") == .invalidRequest)
      try store.requireComplete()
      #expect(try pairs(in: store) == 200)
    }
  }

  @Test("restoring from a missing backup changes and creates nothing", arguments: ["sqlite", "lmdb", "json"])
  func missing(engine: String) throws {
    try withStore("json") { store, repository, backup in
      let path = try StoreURL(backup).path + "-missing"
      #expect(
        code {
          try repository.restore(from: "\(engine):\(path)", engines: Self.engines, replacingContent: true)
        } == .missingStore)
      #expect(!FileManager.default.fileExists(atPath: path))
      #expect(try pairs(in: store) == 200)
    }
  }

  @Test(
    "a backup over an unfinished migration refuses a destination with other records, and keeps them",
    arguments: TestStores.durable)
  func otherRecords(engine: String) throws {
    try withStore(engine) { store, repository, backup in
      let url = try StoreURL(backup)
      let destination = try TestStores.open(url.scheme, url.path)
      let other = try ModelSchema(name: "Other", fields: [FieldSchema("id", .int64)], key: ["id"])
      try SampleStores.save([.integer(1)], other, in: destination)
      #expect(throws: Stop.self) {
        try Migration(from: store, to: destination).run { if $0.phase == .copying { throw Stop() } }
      }
      try destination.close()
      #expect(code { try repository.backup(to: backup, engines: Self.engines) } == .destinationNotEmpty)
      let found = try TestStores.open(url.scheme, url.path)
      #expect(try found.count(FetchRequest(other)) == 1)
      // The unfinished migration is as it was, and can be resumed.
      _ = try Migration(from: store, to: found, options: MigrationOptions(start: .resume)).run()
      try found.close()
    }
  }
}
