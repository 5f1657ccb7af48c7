import Foundation
import MigrationStores
import PersistenceDriver
import PersistenceMigration
import Testing
import PersistenceDriverSupport

@Suite("Checks of completeness while a store is filled")
struct CompletenessTests {
  private struct Stop: Error {}

  /// Begins a copy of a model, and leaves it unfinished.
  private static func interruptCopy(of model: String, to destination: any StorageContext) throws {
    let source = MemoryContext()
    let schema = try ModelSchema(name: model, fields: [FieldSchema("id", .int64)], key: ["id"])
    try SampleStores.save([.integer(1)], schema, in: source)
    #expect(throws: Stop.self) {
      try Migration(from: source, to: destination).run { if $0.phase == .copying { throw Stop() } }
    }
  }

  private static func expectIncomplete(_ store: any StorageContext) {
    let error = #expect(throws: PersistenceError.self) { try store.requireComplete() }
    #expect(error?.code == .incompleteStore)
    #expect(!store.isKnownComplete)
  }

  private func withStore(_ engine: String, _ body: (any StorageContext) throws -> Void) throws {
    try TestStores.withFolder { folder in
      let store = try TestStores.open(engine, folder.appendingPathComponent("store").path)
      try body(store)
      try store.close()
    }
  }

  @Test("U1 a check that began before a copy does not mark the copy as complete", arguments: TestStores.all)
  func checkBefore(engine: String) throws {
    try withStore(engine) { store in
      // The check finds no ledger, and ends after the copy has begun.
      let hooked = HookedContext(store, afterLookup: { try Self.interruptCopy(of: "New", to: store) })
      try hooked.requireComplete()
      Self.expectIncomplete(store)
    }
  }

  @Test(
    "U1 a check between a copy's beginning and its first commit is not remembered", arguments: TestStores.all)
  func checkDuring(engine: String) throws {
    try withStore(engine) { store in
      let hooked = HookedContext(store, beforeTransaction: { try store.requireComplete() })
      try Self.interruptCopy(of: "New", to: hooked)
      Self.expectIncomplete(store)
    }
  }

  @Test("U1 the end of a copy does not mark the next one as complete", arguments: TestStores.all)
  func nextCopy(engine: String) throws {
    try withStore(engine) { store in
      let source = MemoryContext()
      try SampleStores.fill(source, pairCount: 10)
      let hooked = HookedContext(
        store, afterPublication: { try Self.interruptCopy(of: "Next", to: store) })
      _ = try Migration(from: source, to: hooked).run()
      Self.expectIncomplete(store)
    }
  }

  @Test(
    "U1 a copy through one context ends what another one of this process knew",
    arguments: TestStores.all.filter { $0 != "memory" })
  func otherContext(engine: String) throws {
    try TestStores.withFolder { folder in
      let path = folder.appendingPathComponent("store").path
      let store = try TestStores.open(engine, path)
      // A JSON directory is known by any name.
      let other = try TestStores.open(engine, engine == "json" ? path + "/." : path)
      try other.requireComplete()
      #expect(other.isKnownComplete)
      try Self.interruptCopy(of: "New", to: store)
      Self.expectIncomplete(other)
      try store.close()
      try other.close()
    }
  }

  @Test(
    "U1 an opening that reads the catalog finds out whether a copy is unfinished, so that no call needs to",
    arguments: TestStores.all.filter(["sqlite", "postgres"].contains))
  func opening(engine: String) throws {
    try TestStores.withFolder { folder in
      let path = folder.appendingPathComponent("store").path
      let store = try TestStores.open(engine, path)
      let complete = try TestStores.open(engine, path)
      #expect(complete.isKnownComplete)
      try Self.interruptCopy(of: "New", to: store)
      let incomplete = try TestStores.open(engine, path)
      Self.expectIncomplete(incomplete)
      for context in [store, complete, incomplete] { try context.close() }
    }
  }

  @Test("a check after a copy is remembered", arguments: TestStores.all)
  func checkAfter(engine: String) throws {
    try withStore(engine) { store in
      let source = MemoryContext()
      try SampleStores.fill(source, pairCount: 10)
      _ = try Migration(from: source, to: store).run()
      try store.requireComplete()
      #expect(store.isKnownComplete)
    }
  }
}
