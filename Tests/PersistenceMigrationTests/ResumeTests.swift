import Foundation
import MigrationStores
import PersistenceDriver
import PersistenceMigration
import Testing
import PersistenceDriverSupport

@Suite("Resuming a migration")
struct ResumeTests {
  private struct Stop: Error {}

  /// Interrupts a migration after a number of `Pair` records.
  func interrupt(
    _ source: any StorageContext, _ destination: any StorageContext, after count: Int,
    _ options: MigrationOptions = MigrationOptions(batchSize: 50)
  ) throws {
    #expect(throws: Stop.self) {
      try Migration(from: source, to: destination, options: options).run { progress in
        if progress.phase == .copying, progress.model == "Pair", progress.done >= count { throw Stop() }
      }
    }
  }

  func resuming(_ options: MigrationOptions = MigrationOptions(batchSize: 70)) -> MigrationOptions {
    var options = options
    options.start = .resume
    return options
  }

  func expectError(
    _ code: PersistenceError.Code, _ source: any StorageContext, _ destination: any StorageContext,
    _ options: MigrationOptions, _ place: SourceLocation = #_sourceLocation
  ) throws {
    let error = #expect(throws: PersistenceError.self, sourceLocation: place) {
      try Migration(from: source, to: destination, options: options).run()
    }
    #expect(error?.code == code, "\(error.map { "\($0)" } ?? "none")", sourceLocation: place)
  }

  static let pairs = TestStores.all.flatMap { from in TestStores.all.map { (from, $0) } }

  @Test("Resumes for every pair of engines", arguments: pairs)
  func everyPair(from: String, to: String) throws {
    try TestStores.withFolder { folder in
      let source = try TestStores.open(from, folder.appendingPathComponent("source").path)
      let destination = try TestStores.open(to, folder.appendingPathComponent("destination").path)
      try SampleStores.fill(source, pairCount: 400)
      for verification in MigrationOptions.Verification.allCases {
        let options = MigrationOptions(batchSize: 50, verification: verification)
        try interrupt(source, destination, after: 150, options)
        let marked = #expect(throws: PersistenceError.self) { try destination.requireComplete() }
        #expect(marked?.code == .incompleteStore)
        try expectError(.incompleteStore, source, destination, options)
        var copied: [Int] = []
        let report = try Migration(from: source, to: destination, options: resuming(options)).run {
          progress in
          if progress.phase == .copying, progress.model == "Pair" { copied.append(progress.done) }
        }
        #expect(copied.first == 150)
        #expect(report.isResumed)
        #expect(report.models.map(\.counts.written) == [400, 5])
        #expect((report.comparison?.isEqual ?? (verification != .full)))
        try destination.requireComplete()
        #expect(try destination.catalog() == source.catalog())
        let comparison = try StoreComparison(source, destination).run()
        #expect(comparison.isEqual, "\(comparison)")
        try destination.transaction { transaction in
          for schema in try transaction.catalog() { try transaction.drop(schema) }
        }
      }
      try source.close()
      try destination.close()
    }
  }

  @Test("A restart removes the copied records")
  func restarts() throws {
    let (source, destination) = (MemoryContext(), MemoryContext())
    try SampleStores.fill(source, pairCount: 300)
    try interrupt(source, destination, after: 100)
    try source.transaction { _ = try $0.deleteAll(in: SampleStores.pairs()) }
    var options = MigrationOptions(start: .restart)
    #expect(try Migration(from: source, to: destination, options: options).run().counts.written == 5)
    #expect(try StoreComparison(source, destination).run().isEqual)
    // Nothing is left to restart, and the destination is not empty.
    try expectError(.destinationNotEmpty, source, destination, options)
    options.start = .resume
    try expectError(.notResumable, source, destination, options)
    try expectError(.notResumable, source, MemoryContext(), options)
  }

  @Test("Refuses to resume with another source, other models or other options")
  func otherMigration() throws {
    let (source, destination, other) = (MemoryContext(), MemoryContext(), MemoryContext())
    try SampleStores.fill(source, pairCount: 300)
    try SampleStores.fill(other, pairCount: 300)
    try interrupt(source, destination, after: 100)
    try expectError(.otherMigration, other, destination, resuming())
    try expectError(.otherMigration, source, destination, resuming(MigrationOptions(models: ["Pair"])))
    try expectError(.otherMigration, source, destination, resuming(MigrationOptions(conflicts: .skip)))
    try expectError(.otherMigration, source, destination, resuming(MigrationOptions(verification: .none)))
    let changed = try ModelSchema(
      name: "Pair", fields: SampleStores.pairs().fields + [FieldSchema("new", .bool)],
      key: SampleStores.pairs().key)
    try source.transaction { transaction in
      try transaction.drop(SampleStores.pairs())
      try transaction.define(changed)
    }
    try expectError(.otherMigration, source, destination, resuming())
    #expect(try destination.count(FetchRequest(SampleStores.pairs())) == 100)
  }

  @Test(
    "Refuses to resume if the copied part of either store has changed; the rest may change",
    arguments: [true, false])
  func changes(hasDigests: Bool) throws {
    let (source, destination) = (MemoryContext(), MemoryContext())
    let pairs = try SampleStores.pairs()
    try SampleStores.fill(source, pairCount: 300)
    let options = MigrationOptions(batchSize: 50, verification: hasDigests ? .digest : .count)
    try interrupt(source, destination, after: 100, options)
    let rows = try Self.rows(of: pairs, in: source)
    func changing(_ store: any StorageContext, _ row: Int, _ code: PersistenceError.Code) throws {
      try SampleStores.save([rows[row][0], rows[row][1], .double(-7)], pairs, in: store)
      try expectError(code, source, destination, resuming(options))
      try SampleStores.save(rows[row], pairs, in: store)
      try store.transaction { _ = try $0.delete(RecordKey(Array(rows[row].prefix(2))), in: pairs) }
      try expectError(code, source, destination, resuming(options))
      try SampleStores.save(rows[row], pairs, in: store)
    }
    // Without digests, only the last batch is compared.
    if hasDigests {
      try changing(source, 3, .sourceChanged)
      try changing(destination, 3, .destinationChanged)
    }
    try changing(destination, 99, .destinationChanged)
    let extra: [PersistentValue] = [.integer(-1), .uuid(UUID()), .double(0)]
    for (store, code) in [(source, PersistenceError.Code.sourceChanged), (destination, .destinationChanged)] {
      try SampleStores.save(extra, pairs, in: store)
      try expectError(code, source, destination, resuming(options))
      try store.transaction { _ = try $0.delete(RecordKey(Array(extra.prefix(2))), in: pairs) }
    }
    // Records behind the copied part may change; the copy then has their new values.
    try source.transaction { _ = try $0.delete(RecordKey(Array(rows[200].prefix(2))), in: pairs) }
    try SampleStores.save([rows[201][0], rows[201][1], .double(-9)], pairs, in: source)
    try SampleStores.save([.integer(99), .uuid(UUID()), .double(-9)], pairs, in: source)
    let report = try Migration(from: source, to: destination, options: resuming(options)).run()
    #expect(report.counts.written == 305)
    #expect(try StoreComparison(source, destination).run().isEqual)
  }

  @Test("Reports a damaged ledger")
  func tampering() throws {
    let schema = try ModelSchema(
      name: ReservedModel.fillLedger,
      fields: [FieldSchema("model", .string), FieldSchema("content", .string)], key: ["model"])
    let source = MemoryContext()
    try SampleStores.fill(source, pairCount: 300)
    // Records that may be older than the migration are not removed.
    func tampered(
      _ code: PersistenceError.Code, canRestart: Bool = true,
      _ change: (any StorageContext, [[PersistentValue]]) throws -> Void
    ) throws {
      let destination = MemoryContext()
      try interrupt(source, destination, after: 100)
      try change(destination, Self.rows(of: schema, in: destination))
      try expectError(code, source, destination, resuming())
      let restarted = MigrationOptions(start: .restart)
      if canRestart {
        _ = try Migration(from: source, to: destination, options: restarted).run()
        #expect(try StoreComparison(source, destination).run().isEqual)
      } else {
        try expectError(.damaged, source, destination, restarted)
        #expect(try destination.count(FetchRequest(SampleStores.pairs())) == 100)
      }
    }
    func replacing(_ old: String, _ new: String) -> (any StorageContext, [[PersistentValue]]) throws -> Void {
      { store, rows in
        for row in rows {
          guard case .text(let text) = row[1], text.contains(old) else { continue }
          try SampleStores.save(
            [row[0], .text(text.replacingOccurrences(of: old, with: new))], schema, in: store)
        }
      }
    }
    try tampered(.destinationChanged, replacing("\"now\":{\"count\":100", "\"now\":{\"count\":99"))
    try tampered(.otherMigration, replacing("memory:", "sqlite:"))
    try tampered(.otherMigration, replacing("\"format\":1", "\"format\":2"))
    try tampered(.damaged, canRestart: false, replacing("{", "["))
    try tampered(.damaged, replacing("\"hasDigests\"", "\"has\""))
    try tampered(.damaged) { store, _ in
      try store.transaction { _ = try $0.delete(RecordKey([.text("")]), in: schema) }
    }
    // No records of this model are copied.
    try tampered(.damaged) { store, _ in
      try store.transaction { _ = try $0.delete(RecordKey([.text("=every/kind é")]), in: schema) }
    }
    try tampered(.damaged, canRestart: false) { store, _ in
      try store.transaction { _ = try $0.delete(RecordKey([.text("=Pair")]), in: schema) }
    }
  }

  @Test("Publishes in a destination that cannot drop models, and can start there again")
  func withoutDropping() throws {
    let source = MemoryContext()
    try SampleStores.fill(source, pairCount: 300)
    let destination = KeepingContext(MemoryContext())
    try interrupt(source, destination, after: 100)
    #expect(throws: PersistenceError.self) { try destination.requireComplete() }
    _ = try Migration(from: source, to: destination, options: MigrationOptions(start: .restart)).run()
    try destination.requireComplete()
    #expect(try StoreComparison(source, destination).run().isEqual)
    try expectError(.notResumable, source, destination, resuming())
    try destination.transaction { transaction in
      for schema in try transaction.catalog() { _ = try transaction.deleteAll(in: schema) }
    }
    try interrupt(source, destination, after: 100)
    #expect(try Migration(from: source, to: destination, options: resuming()).run().counts.written == 305)
    try destination.requireComplete()
  }

  @Test("Only one process can run a migration")
  func oneProcess() throws {
    let (source, destination) = (MemoryContext(), MemoryContext())
    try SampleStores.fill(source, pairCount: 300)
    try interrupt(source, destination, after: 100)
    // Another process continues while this one is between two batches.
    var hasOther = false
    let error = #expect(throws: PersistenceError.self) {
      try Migration(from: source, to: destination, options: resuming()).run { progress in
        guard progress.phase == .copying, progress.done > 100, !hasOther else { return }
        hasOther = true
        _ = try Migration(from: source, to: destination, options: resuming()).run()
      }
    }
    #expect(error?.code == .busy, "\(error.map { "\($0)" } ?? "")")
    #expect(try StoreComparison(source, destination).run().isEqual)
    try destination.requireComplete()
  }

  static func rows(of schema: ModelSchema, in store: any StorageContext) throws -> [[PersistentValue]] {
    var rows: [[PersistentValue]] = []
    _ = try store.fetch(FetchRequest(schema)).read(from: 0, limit: Int.max) { rows.append(try $0.values()) }
    return rows
  }
}

/// A context that cannot drop models, like some third-party contexts.
private final class KeepingContext: StorageContextWrapper {
  let wrapped: any StorageContext

  init(_ wrapped: any StorageContext) { self.wrapped = wrapped }

  func wrap(_ transaction: any StorageTransaction) -> any StorageTransaction { Transaction(transaction) }

  private final class Transaction: StorageTransactionWrapper {
    let wrapped: any StorageTransaction

    init(_ wrapped: any StorageTransaction) { self.wrapped = wrapped }

    func drop(_ schema: ModelSchema) throws {
      throw PersistenceError.unsupported("remove the model \(schema.name)", by: "the context")
    }
  }
}
