import Foundation
import MigrationStores
import PersistenceDriver
import PersistenceMigration
import Testing
import PersistenceDriverSupport

@Suite("Conflicting and rejected records")
struct ConflictTests {
  /// A store with equal records, records with other values, and additional records.
  private func destination(_ engine: String, _ folder: URL, besides source: any StorageContext) throws
    -> any StorageContext
  {
    let pairs = try SampleStores.pairs()
    let destination = try TestStores.open(engine, folder.appendingPathComponent("destination").path)
    for (number, row) in try ResumeTests.rows(of: pairs, in: source).prefix(60).enumerated() {
      try SampleStores.save([row[0], row[1], number < 30 ? row[2] : .double(-1)], pairs, in: destination)
    }
    for number in 0..<10 {
      try SampleStores.save(
        [.integer(1000), .uuid(SampleStores.uuid(number)), .double(-2)], pairs, in: destination)
    }
    return destination
  }

  @Test(
    "stay or are replaced, as is asked for, also across an interruption", arguments: TestStores.all,
    [true, false])
  func conflicts(engine: String, isInterrupted: Bool) throws {
    struct Stop: Error {}
    let source = MemoryContext()
    try SampleStores.fill(source, pairCount: 200)
    for conflicts in [MigrationOptions.Conflicts.skip, .replace] {
      for verification in MigrationOptions.Verification.allCases {
        try TestStores.withFolder { folder in
          let destination = try destination(engine, folder, besides: source)
          var options = MigrationOptions(batchSize: 25, conflicts: conflicts, verification: verification)
          if isInterrupted {
            #expect(throws: Stop.self) {
              try Migration(from: source, to: destination, options: options).run { progress in
                if progress.model == "Pair", progress.done >= 50 { throw Stop() }
              }
            }
            options.start = .resume
          }
          let report = try Migration(from: source, to: destination, options: options).run()
          let counts = report.models[0].counts
          #expect(counts.read == 200 && counts.written == 140 && counts.rejected == 0)
          #expect(counts.skipped == (conflicts == .skip ? 60 : 0))
          #expect(counts.replaced == (conflicts == .replace ? 60 : 0))
          let found = try StoreComparison(source, destination).run().models[0]
          #expect(found.onlyLeft == 0 && found.onlyRight == 10)
          #expect(found.changed == (conflicts == .skip ? 30 : 0))
          #expect(found.unchanged == (conflicts == .skip ? 170 : 200))
          try destination.close()
        }
      }
    }
  }

  @Test(
    "Rejected records are stored with reason and position; the others are copied", arguments: TestStores.all)
  func rejects(engine: String) throws {
    try TestStores.withFolder { folder in
      let source = MemoryContext()
      try SampleStores.fill(source, pairCount: 1000)
      let destination = RefusingContext(
        try TestStores.open(engine, folder.appendingPathComponent("destination").path))
      let file = folder.appendingPathComponent("rejects").path
      let options = MigrationOptions(batchSize: 100, failures: .reject, verification: .full)
      let report = try Migration(
        from: source, to: destination, options: options, rejects: MigrationRejectFile(path: file)
      ).run()
      #expect(report.models[0].counts == MigrationCounts(read: 1000, written: 989, rejected: 11))
      let rejects = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        .map { try JSONDecoder().decode(MigrationReject.self, from: Data($0.utf8)) }
      #expect(rejects == report.rejects)
      let rows = try ResumeTests.rows(of: SampleStores.pairs(), in: source)
      for reject in rejects {
        #expect(reject.code == "invalidRequest" && reject.reason == "the destination takes no such record")
        #expect(reject.key == RecordKey(Array(rows[reject.position].prefix(2))))
        #expect(reject.record?.contains("\"left\":\(rows[reject.position][0])") == true)
      }
      #expect(report.comparison?.models[0].onlyLeft == 11)
      try destination.close()
    }
  }

  @Test("Too many rejects stop the migration, which can be resumed")
  func tooMany() throws {
    let source = MemoryContext()
    try SampleStores.fill(source, pairCount: 1000)
    let inner = MemoryContext()
    let destination = RefusingContext(inner)
    var options = MigrationOptions(batchSize: 100, failures: .reject, maxRejects: 5)
    let error = #expect(throws: PersistenceError.self) {
      try Migration(from: source, to: destination, options: options).run()
    }
    #expect(error?.code == .tooManyRejects)
    options.start = .resume
    options.maxRejects = 11
    #expect(try Migration(from: source, to: destination, options: options).run().counts.rejected == 11)
    options = MigrationOptions(failures: .stop)
    let stopped = #expect(throws: PersistenceError.self) {
      try Migration(from: source, to: RefusingContext(MemoryContext()), options: options).run()
    }
    #expect(stopped?.code == .invalidRequest && stopped?.key != nil)
  }

  @Test(
    "An error names the record that violates a unique index, deferred or not",
    arguments: TestStores.all)
  func uniqueness(engine: String) throws {
    try TestStores.withFolder { folder in
      let source = try Self.twins()
      let destination = try TestStores.open(engine, folder.appendingPathComponent("destination").path)
      let error = #expect(throws: PersistenceError.self) {
        try Migration(from: source, to: destination, options: MigrationOptions(batchSize: 10)).run()
      }
      #expect(error?.code == .uniqueViolation, "\(error.map { "\($0)" } ?? "")")
      #expect(error?.key == RecordKey([.integer(70)]))
      let options = MigrationOptions(batchSize: 10, failures: .reject, start: .restart, verification: .full)
      let report = try Migration(from: source, to: destination, options: options).run()
      #expect(report.counts == MigrationCounts(read: 100, written: 99, rejected: 1))
      #expect(report.rejects.map(\.position) == [70] && report.rejects.map(\.code) == ["uniqueViolation"])
      try destination.close()
    }
  }
}

extension ConflictTests {
  /// A hundred records, of which number 70 duplicates the word of number 30; the source does not enforce its index.
  private static func twins() throws -> RenamingContext {
    let fields = [FieldSchema("id", .int64), FieldSchema("word", .string)]
    let plain = try ModelSchema(name: "Word", fields: fields, key: ["id"])
    let unique = try ModelSchema(
      name: "Word", fields: fields, key: ["id"], indexes: [IndexSchema(["word"], isUnique: true)])
    let inner = MemoryContext()
    for number in 0..<100 {
      try SampleStores.save(
        [.integer(Int64(number)), .text(number == 70 ? "w30" : "w\(number)")], plain, in: inner)
    }
    return RenamingContext(inner, plain, as: unique)
  }

  @Test(
    "A resumed run can start to reject unique violations, unless one is already copied",
    arguments: TestStores.all, [20, 80, 100])
  func laterUniqueness(engine: String, interruptedAfter count: Int) throws {
    struct Stop: Error {}
    try TestStores.withFolder { folder in
      let source = try Self.twins()
      let destination = try TestStores.open(engine, folder.appendingPathComponent("destination").path)
      var isStopped = false
      do {
        _ = try Migration(from: source, to: destination, options: MigrationOptions(batchSize: 10)).run {
          progress in
          if progress.phase == .copying, progress.done >= count, count < 100 { throw Stop() }
        }
      } catch is Stop {
        isStopped = true
      } catch let error as PersistenceError {
        #expect(error.code == .uniqueViolation)
      }
      var options = MigrationOptions(batchSize: 10, failures: .reject, start: .resume, verification: .full)
      // Only an engine with deferred indexes can have copied the duplicate.
      let isCopied = count > 70 && (isStopped || ["sqlite", "lmdb", "postgres"].contains(engine))
      if isCopied {
        let error = #expect(throws: PersistenceError.self) {
          try Migration(from: source, to: destination, options: options).run()
        }
        #expect(error?.code == .otherMigration && "\(error.map { "\($0)" } ?? "")".contains("restart"))
        options.start = .restart
      }
      let report = try Migration(from: source, to: destination, options: options).run()
      #expect(report.counts == MigrationCounts(read: 100, written: 99, rejected: 1))
      #expect(report.rejects.map(\.position) == [70] && report.rejects.map(\.code) == ["uniqueViolation"])
      try destination.close()
    }
  }
}

/// A context that presents a model with another schema of the same fields.
private final class RenamingContext: StorageContextWrapper {
  let wrapped: any StorageContext
  private let stored: ModelSchema
  private let shown: ModelSchema

  init(_ wrapped: any StorageContext, _ stored: ModelSchema, as shown: ModelSchema) {
    (self.wrapped, self.stored, self.shown) = (wrapped, stored, shown)
  }

  func wrap(_ snapshot: any StorageSnapshot) -> any StorageSnapshot { Snapshot(snapshot, stored, shown) }

  private final class Snapshot: StorageSnapshotWrapper, RowChangingWrapper {
    let wrapped: any StorageSnapshot
    private let stored: ModelSchema
    private let shown: ModelSchema

    init(_ wrapped: any StorageSnapshot, _ stored: ModelSchema, _ shown: ModelSchema) {
      (self.wrapped, self.stored, self.shown) = (wrapped, stored, shown)
    }

    func catalog() throws -> [ModelSchema] { [shown] }
    func schema(named name: String) throws -> ModelSchema? { try schemaFromCatalog(named: name) }
    func count(_ request: FetchRequest) throws -> Int { try wrapped.count(translated(request)) }
    func fetch(_ request: FetchRequest) throws -> any StorageResults {
      try wrapped.fetch(translated(request))
    }
    func find(_ key: RecordKey, in schema: ModelSchema, _ body: (borrowing Row) throws -> Void) throws -> Bool
    {
      try wrapped.find(key, in: stored, body)
    }

    private func translated(_ request: FetchRequest) throws -> FetchRequest {
      try FetchRequest(
        stored, where: request.predicate, order: request.order, limit: request.limit, offset: request.offset,
        after: request.after)
    }
  }
}
