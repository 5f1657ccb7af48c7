import Foundation
import MigrationStores
import PersistenceDriver
import PersistenceMigration
import PersistencePrimitives
import Synchronization
import Testing
import PersistenceDriverSupport

@Suite("Rejects of a migration")
struct RejectTests {
  private struct Stop: Error {}

  /// Keeps the pages of rejects that a migration passes on.
  private final class Pages: MigrationRejectSink {
    private let pages = Mutex<[[MigrationReject]]>([])

    var all: [[MigrationReject]] { pages.withLock { $0 } }

    func begin(with rejects: [MigrationReject]) { pages.withLock { $0 = [rejects] } }
    func add(_ rejects: [MigrationReject]) { pages.withLock { $0.append(rejects) } }
  }

  private static let limit = 64 << 10

  private static func texts() throws -> ModelSchema {
    try ModelSchema(
      name: "Text",
      fields: [FieldSchema("id", .int64), FieldSchema("day", .string), FieldSchema("text", .string)],
      key: ["id"])
  }

  /// Forty records, none of which has a date in `day`.
  private static func source(size: Int) throws -> MemoryContext {
    let source = MemoryContext()
    let text = String(repeating: "x", count: size)
    for number in 0..<40 {
      try SampleStores.save([.integer(Int64(number)), .text("never"), .text(text)], texts(), in: source)
    }
    return source
  }

  private static func options(_ start: MigrationOptions.Start = .new) throws -> MigrationOptions {
    MigrationOptions(
      batchBytes: 256 << 10, failures: .reject, start: start,
      mapping: try MigrationMapping.parse(renames: [], rules: ["Text.day=as:date(iso8601)"]))
  }

  private func withStore(_ engine: String, _ body: (any StorageContext, _ folder: URL) throws -> Void) throws
  {
    try TestStores.withFolder { folder in
      let store = try TestStores.open(engine, folder.appendingPathComponent("store").path)
      try body(store, folder)
      try store.close()
    }
  }

  /// Leaves a migration unfinished that has rejected all records.
  private func interrupt(_ source: any StorageContext, _ store: any StorageContext) throws {
    #expect(throws: Stop.self) {
      try Migration(from: source, to: store, options: Self.options()).run {
        if $0.rejected == 40 { throw Stop() }
      }
    }
  }

  @Test("a reject replaces a value over 64 KiB by its size, and stays JSON")
  func largeValues() throws {
    let report = try Migration(
      from: Self.source(size: 200 << 10), to: MemoryContext(), options: Self.options()
    ).run()
    #expect(report.rejects.count == 40)
    for reject in report.rejects {
      let record = try #require(reject.record)
      #expect(throws: Never.self) { try JSONParser.parse(record) }
      #expect(record.contains(#""day":"never""#))
      #expect(record.contains(#""text":"left out: 204800 bytes, and a reject has 64 KiB""#))
    }
  }

  @Test("a reject of a record that the destination refuses has a bounded text too", arguments: TestStores.all)
  func refused(engine: String) throws {
    try withStore(engine) { store, _ in
      let fields = [FieldSchema("id", .int64), FieldSchema("word", .string), FieldSchema("text", .string)]
      let schema = try ModelSchema(
        name: "Word", fields: fields, key: ["id"], indexes: [IndexSchema(["word"], isUnique: true)])
      try SampleStores.save([.integer(9), .text("same"), .text("")], schema, in: store)
      let source = MemoryContext()
      let text = String(repeating: "x", count: 1 << 20)
      try SampleStores.save([.integer(1), .text("same"), .text(text)], schema, in: source)
      let options = MigrationOptions(conflicts: .skip, failures: .reject)
      let reject = try #require(try Migration(from: source, to: store, options: options).run().rejects.first)
      #expect(reject.code == "uniqueViolation")
      #expect(try #require(reject.record).utf8.count < Self.limit)
    }
  }

  @Test("a reject whose names of fields exceed 64 KiB is cut, and says so")
  func manyFields() throws {
    let names = (0..<1000).map { "field \($0) " + String(repeating: "é", count: 50) }
    let schema = try ModelSchema(
      name: "Text",
      fields: [FieldSchema("id", .int64), FieldSchema("day", .string)]
        + names.map { FieldSchema($0, .string) },
      key: ["id"])
    let source = MemoryContext()
    try SampleStores.save(
      [.integer(1), .text("never")] + names.map { .text($0) }, schema, in: source)
    let report = try Migration(from: source, to: MemoryContext(), options: Self.options()).run()
    let record = try #require(report.rejects.first?.record)
    #expect(record.utf8.count <= Self.limit && record.utf8.count > Self.limit - 8)
    #expect(record.hasSuffix(" bytes, and a reject has 64 KiB)"))
  }

  @Test(
    "rejects count in the size of a transaction, and a resumed run reads them in pages",
    arguments: TestStores.all)
  func pages(engine: String) throws {
    try withStore(engine) { store, _ in
      let source = try Self.source(size: 60 << 10)
      let sink = Pages()
      #expect(throws: Stop.self) {
        try Migration(from: source, to: store, options: Self.options(), rejects: sink).run {
          if $0.rejected == 40 { throw Stop() }
        }
      }
      let written = sink.all
      #expect(written.allSatisfy { $0.count <= 6 }, "\(written.map(\.count))")
      _ = try Migration(from: source, to: store, options: Self.options(.resume), rejects: sink).run()
      let replayed = sink.all
      #expect(replayed.allSatisfy { $0.count <= 20 }, "\(replayed.map(\.count))")
      #expect(replayed.flatMap(\.self) == written.flatMap(\.self))
      #expect(replayed.flatMap(\.self).map(\.position) == Array(0..<40))
    }
  }

  @Test("E2 an unreadable stored reject is damage, and a restart removes it", arguments: TestStores.all)
  func unreadable(engine: String) throws {
    try withStore(engine) { store, _ in
      let source = try Self.source(size: 10)
      try interrupt(source, store)
      let schema = try #require(try store.catalog().first { $0.name.hasSuffix(".rejects") })
      try SampleStores.save([.integer(3), .text("{}")], schema, in: store)
      let error = #expect(throws: PersistenceError.self) {
        try Migration(from: source, to: store, options: Self.options(.resume), rejects: Pages()).run()
      }
      #expect(error?.code == .damaged && error?.message.contains("restart the migration") == true)
      #expect(error?.location == store.location)
      let report = try Migration(from: source, to: store, options: Self.options(.restart)).run()
      #expect(report.counts.rejected == 40)
    }
  }

  @Test("a reject file that cannot be opened leaves the destination as it was", arguments: TestStores.all)
  func unopenable(engine: String) throws {
    try withStore(engine) { store, folder in
      let source = try Self.source(size: 10)
      let file = MigrationRejectFile(path: folder.appendingPathComponent("missing/rejects").path)
      func fail(_ start: MigrationOptions.Start) throws {
        #expect(throws: PersistenceError.self) {
          try Migration(from: source, to: store, options: Self.options(start), rejects: file).run()
        }
      }
      try fail(.new)
      #expect(try store.catalog().isEmpty)
      try store.requireComplete()
      try interrupt(source, store)
      try fail(.restart)
      // The unfinished migration has kept what it rejected.
      let sink = Pages()
      _ = try Migration(from: source, to: store, options: Self.options(.resume), rejects: sink).run()
      #expect(sink.all.flatMap(\.self).count == 40)
    }
  }

  @Test("a refused migration leaves the reject file of an earlier one", arguments: TestStores.all)
  func kept(engine: String) throws {
    try withStore(engine) { store, folder in
      let source = try Self.source(size: 10)
      let url = folder.appendingPathComponent("rejects")
      let file = MigrationRejectFile(path: url.path)
      let earlier = MemoryContext()
      _ = try Migration(from: source, to: earlier, options: Self.options(), rejects: file).run()
      let content = try Data(contentsOf: url)
      try SampleStores.fill(store, pairCount: 10)
      let other = MemoryContext()
      try SampleStores.fill(other, pairCount: 10)
      for start in [MigrationOptions.Start.new, .restart, .resume] {
        #expect(throws: PersistenceError.self) {
          try Migration(
            from: other, to: store, options: MigrationOptions(failures: .reject, start: start), rejects: file
          ).run()
        }
      }
      #expect(try !content.isEmpty && Data(contentsOf: url) == content)
    }
  }
}
