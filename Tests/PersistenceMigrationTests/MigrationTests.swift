import Foundation
import MigrationStores
import PersistenceDriver
import PersistenceMigration
import Testing
import PersistenceDriverSupport

@Suite("Migration")
struct MigrationTests {
  @Test("Copies all models and records; a comparison finds no difference")
  func copiesEverything() throws {
    let (source, destination) = (MemoryContext(), MemoryContext())
    try SampleStores.fill(source)
    let report = try Migration(from: source, to: destination).run()
    #expect(report.models.map(\.name) == ["Pair", "every/kind é"])
    #expect(report.models.map(\.counts.written) == [1000, 5])
    #expect(try destination.catalog() == source.catalog())
    let comparison = try StoreComparison(source, destination).run()
    #expect(comparison.isEqual)
    #expect(comparison.models.map(\.unchanged) == [1000, 5])
    #expect(comparison.models.map(\.left?.digest) == report.models.map(\.digest))
  }

  @Test("Refuses a destination with records of a copied model, and writes nothing")
  func refusesOccupied() throws {
    let (source, destination) = (MemoryContext(), MemoryContext())
    try SampleStores.fill(source)
    let pairs = try SampleStores.pairs()
    try SampleStores.save([.integer(1), .uuid(SampleStores.uuid(1)), .double(0)], pairs, in: destination)
    #expect { try Migration(from: source, to: destination).run() } throws: { error in
      (error as? PersistenceError)?.code == .destinationNotEmpty
    }
    #expect(try destination.catalog() == [pairs])
    #expect(try destination.count(FetchRequest(pairs)) == 1)
  }

  @Test("Copies models into one store in separate runs, as planned", arguments: TestStores.all)
  func oneModelAfterTheOther(engine: String) throws {
    try TestStores.withFolder { folder in
      let source = MemoryContext()
      try SampleStores.fill(source, pairCount: 50)
      let destination = try TestStores.open(engine, folder.appendingPathComponent("destination").path)
      let batches = try ModelSchema(
        name: ReservedModel.appliedBatches, fields: [FieldSchema("id", .string)], key: ["id"])
      try SampleStores.save([.text("a batch of an app")], batches, in: destination)
      for (number, model) in try source.catalog().enumerated() {
        let migration = Migration(
          from: source, to: destination, options: MigrationOptions(models: [model.name], verification: .full))
        #expect(try migration.plan().models.map(\.present) == [0])
        #expect(try migration.run().models.map(\.name) == [model.name])
        #expect(try destination.catalog().count == number + 2)
        // A repeated run conflicts, and the plan shows it.
        #expect(try migration.plan().models[0].present > 0)
        let error = #expect(throws: PersistenceError.self) { try migration.run() }
        #expect(error?.code == .destinationNotEmpty)
      }
      #expect(try StoreComparison(source, destination).run().isEqual)
      try destination.close()
    }
  }

  @Test(
    "Fills a destination with empty models; refuses one with other declarations"
  )
  func declaredDestination() throws {
    let (source, destination) = (MemoryContext(), MemoryContext())
    try SampleStores.fill(source)
    try destination.transaction { try $0.define(SampleStores.pairs()) }
    #expect(try Migration(from: source, to: destination).run().counts.written == 1005)
    let different = MemoryContext()
    let schema = try ModelSchema(name: "Pair", fields: [FieldSchema("left", .int64)], key: ["left"])
    try different.transaction { try $0.define(schema) }
    #expect { try Migration(from: source, to: different).run() } throws: { error in
      (error as? PersistenceError)?.code == .schemaMismatch
    }
    #expect(try different.catalog() == [schema])
  }

  @Test("Refuses to migrate a store to itself")
  func refusesItself() throws {
    let store = MemoryContext()
    #expect(throws: PersistenceError.self) { try Migration(from: store, to: store).run() }
  }

  @Test(
    "Writes batches of the configured size as transactions, and reports progress after each",
    arguments: [1, 7, 1000, 5000])
  func batches(size: Int) throws {
    let source = MemoryContext()
    try SampleStores.fill(source, pairCount: 1000)
    let destination = RecordingContext(MemoryContext())
    var done: [Int] = []
    let options = MigrationOptions(batchSize: size)
    _ = try Migration(from: source, to: destination, options: options).run { progress in
      if progress.phase == .copying, progress.model == "Pair" { done.append(progress.done) }
      #expect(progress.done <= progress.total)
    }
    #expect(done.first == 0)
    #expect(done.last == 1000)
    #expect(done == done.sorted())
    #expect(zip(done, done.dropFirst()).allSatisfy { $1 - $0 <= size })
    #expect(destination.largestTransaction <= size)
  }

  @Test("An error of the progress closure stops the migration between two batches")
  func stops() throws {
    let (source, destination) = (MemoryContext(), MemoryContext())
    try SampleStores.fill(source)
    #expect(throws: CancellationError.self) {
      try Migration(from: source, to: destination, options: MigrationOptions(batchSize: 10)).run { progress in
        if progress.done >= 30 { throw CancellationError() }
      }
    }
    #expect(try destination.count(FetchRequest(SampleStores.pairs())) == 30)
  }

  @Test("R2 Copies one snapshot of a source despite concurrent writes")
  func oneSnapshot() throws {
    let (source, destination) = (MemoryContext(), MemoryContext())
    try SampleStores.fill(source)
    let (pairs, kinds) = (try SampleStores.pairs(), try SampleStores.everyKind())
    _ = try Migration(from: source, to: destination, options: MigrationOptions(batchSize: 100)).run {
      progress in
      try SampleStores.save([.integer(-1), .uuid(UUID()), .double(0)], pairs, in: source)
      try source.transaction { _ = try $0.deleteAll(in: kinds) }
    }
    #expect(try destination.count(FetchRequest(pairs)) == 1000)
    #expect(try destination.count(FetchRequest(kinds)) == 5)
  }

  @Test(
    "Verification detects a lost or changed record",
    arguments: [RecordingContext.Fault.drop, .change])
  func unfaithfulDestination(fault: RecordingContext.Fault) throws {
    let source = MemoryContext()
    try SampleStores.fill(source)
    let destination = RecordingContext(MemoryContext(), fault: fault)
    #expect { try Migration(from: source, to: destination).run() } throws: { error in
      (error as? PersistenceError)?.code == .verificationFailed
    }
    let unchecked = RecordingContext(MemoryContext(), fault: fault)
    let report = try Migration(from: source, to: unchecked, options: MigrationOptions(verification: .none))
      .run()
    #expect(report.models.allSatisfy { $0.digest == nil })
  }
}
