import Foundation
import MigrationStores
import PersistenceDriver
import PersistenceMigration
import Testing
import PersistenceDriverSupport

extension ResumeTests {
  @Test(
    "A restart does not discard a store that another process publishes at that moment",
    arguments: TestStores.all)
  func publishedMeanwhile(engine: String) throws {
    try TestStores.withFolder { folder in
      let source = MemoryContext()
      try SampleStores.fill(source, pairCount: 300)
      let destination = try TestStores.open(engine, folder.appendingPathComponent("destination").path)
      try interrupt(source, destination, after: 100)
      let resuming = resuming()
      let late = HookedContext(
        destination,
        beforeTransaction: {
          _ = try Migration(from: source, to: destination, options: resuming).run()
          try SampleStores.save(
            [.integer(1000), .uuid(SampleStores.uuid(1000)), .double(0)], SampleStores.pairs(),
            in: destination)
        })
      try expectError(.destinationNotEmpty, source, late, MigrationOptions(start: .restart))
      try destination.requireComplete()
      #expect(try destination.count(FetchRequest(SampleStores.pairs())) == 301)
      #expect(try destination.count(FetchRequest(SampleStores.everyKind())) == 5)
      try destination.close()
    }
  }

  @Test(
    "A resume checks one snapshot of the destination despite concurrent commits",
    arguments: [true, false])
  func advancedMeanwhile(hasDigests: Bool) throws {
    let (source, destination) = (MemoryContext(), MemoryContext())
    try SampleStores.fill(source, pairCount: 300)
    let options = MigrationOptions(batchSize: 50, verification: hasDigests ? .digest : .count)
    try interrupt(source, destination, after: 100, options)
    let resuming = resuming(options)
    let late = HookedContext(
      destination,
      afterSnapshot: {
        struct Stop: Error {}
        do {
          _ = try Migration(from: source, to: destination, options: resuming).run { progress in
            if progress.phase == .copying, progress.done >= 150 { throw Stop() }
          }
        } catch is Stop {}
      })
    try expectError(.busy, source, late, resuming)
    #expect(try Migration(from: source, to: destination, options: resuming).run().counts.written == 305)
    #expect(try StoreComparison(source, destination).run().isEqual)
  }
}

extension StoreMoveTests {
  @Test(
    "An app that starts twice opens the store that the other process moved",
    arguments: TestStores.durable, [true, false])
  func twice(to: String, isInterrupted: Bool) throws {
    struct Stop: Error {}
    try TestStores.withFolder { folder in
      let (old, new) = (folder.appendingPathComponent("old").path, folder.appendingPathComponent("new").path)
      let source = try TestStores.open("json", old)
      try SampleStores.fill(source, pairCount: 60)
      try source.close()
      let move = StoreMove(
        from: { try TestStores.open("json", old) }, to: { try TestStores.open(to, new) })
      if isInterrupted {
        #expect(throws: Stop.self) { try move.open { if $0.phase == .verifying { throw Stop() } } }
      }
      let other: @Sendable () throws -> Void = {
        let store = try move.open()
        try SampleStores.save(
          [.integer(1000), .uuid(SampleStores.uuid(1000)), .double(0)], SampleStores.pairs(), in: store)
        try store.close()
      }
      // The other process finishes between this one's check and its start.
      let late = StoreMove(
        from: { try TestStores.open("json", old) },
        to: {
          let store = try TestStores.open(to, new)
          return HookedContext(
            store, beforeTransaction: isInterrupted ? nil : other, afterSnapshot: isInterrupted ? other : nil)
        })
      let store = try late.open()
      try store.requireComplete()
      #expect(try store.count(FetchRequest(SampleStores.pairs())) == 61)
      try store.close()
    }
  }

  @Test("A move restarts if its ledger is damaged or has another format", arguments: TestStores.durable)
  func strangeLedger(to: String) throws {
    struct Stop: Error {}
    let ledger = try ModelSchema(
      name: ReservedModel.fillLedger,
      fields: [FieldSchema("model", .string), FieldSchema("content", .string)], key: ["model"])
    for (part, other) in [("\"format\":1", "\"format\":2"), ("\"hasDigests\"", "\"has\"")] {
      try TestStores.withFolder { folder in
        let (old, new) = (
          folder.appendingPathComponent("old").path, folder.appendingPathComponent("new").path
        )
        let source = try TestStores.open("json", old)
        try SampleStores.fill(source, pairCount: 60)
        try source.close()
        let move = StoreMove(
          from: { try TestStores.open("json", old) }, to: { try TestStores.open(to, new) })
        #expect(throws: Stop.self) { try move.open { if $0.phase == .verifying { throw Stop() } } }
        let left = try TestStores.open(to, new)
        for row in try ResumeTests.rows(of: ledger, in: left) {
          guard case .text(let text) = row[1] else { continue }
          try SampleStores.save([row[0], .text(text.replacing(part, with: other))], ledger, in: left)
        }
        try left.close()
        let store = try move.open()
        try store.requireComplete()
        #expect(try store.count(FetchRequest(SampleStores.pairs())) == 60)
        try store.close()
      }
    }
  }
}
