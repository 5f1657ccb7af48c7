import Foundation
import PersistenceDriver
import PersistenceMigration
import PersistenceDriverSupport

extension PlannedDestination.Opened {
  /// The records of each model that are copied to find out what all of them will take.
  private static let sampleRecords = 10_000
  private static let sampleBytes = 8 << 20
  /// How much more room many records may take than few of them make one expect.
  private static let slack = 1.5

  /// Says how much room and time the migration takes, by copying the first records of each model into a new store of
  /// the destination's engine in a temporary folder.
  func estimate(_ plan: inout MigrationPlan, of source: any StorageContext, options: MigrationOptions) throws
  {
    plan.estimate.free = scratch == nil ? nil : FreeSpace.bytes(at: place.path)
    guard let scratch else { return }
    let reading = (plan.estimate.seconds ?? 0) / 3
    let sample = try Sample(plan, source, options, records: Self.sampleRecords, bytes: Self.sampleBytes)
    guard sample.records > 0 else {
      (plan.estimate.bytes, plan.estimate.seconds) = (0, reading)
      plan.estimate.basis = "there are no records"
      return
    }
    let empty = try Self.filled(scratch, "empty", from: sample.store, isEmpty: true)
    let full = try Self.filled(scratch, "sample", from: sample.store, isEmpty: false)
    let ratio = Double(plan.records) / Double(sample.records)
    let byteRatio = Double(plan.bytes) / Double(max(1, sample.bytes))
    // Trees fill their pages the less the more records there are, and what a transaction frees the next one uses.
    let slack = ratio > 1 ? Self.slack : 1
    plan.estimate.bytes =
      empty.bytes + Int(Double(max(0, full.bytes - empty.bytes)) * max(ratio, byteRatio) * slack)
    let checking = options.verification == .none || options.verification == .count ? 0 : reading
    plan.estimate.seconds = reading + max(0, full.seconds - empty.seconds) * ratio + checking
    plan.estimate.basis =
      "\(sample.records) of \(plan.records) records were copied into a new store in a temporary folder, which took "
      + "\(StoreSize.text(full.bytes)) and \(ProgressDisplay.duration(full.seconds)); the rest is expected to be alike"
  }

  private static func filled(
    _ scratch: ScratchStore, _ name: String, from sample: MemoryContext, isEmpty: Bool
  ) throws
    -> (bytes: Int, seconds: Double)
  {
    let store = try scratch.open(name)
    let started = ContinuousClock.now
    if isEmpty {
      try store.transaction { transaction in
        for schema in try sample.catalog() { try transaction.define(schema) }
      }
    } else {
      _ = try Migration(from: sample, to: store, options: MigrationOptions(verification: .none)).run()
    }
    let seconds = (ContinuousClock.now - started).timeInterval
    try store.close()
    return (StoreSize.bytes(atPath: scratch.path(name)) ?? 0, seconds)
  }
}

/// The first records of each model, as the destination will hold them.
private struct Sample {
  let store = MemoryContext()
  private(set) var records = 0
  private(set) var bytes = 0

  init(
    _ plan: MigrationPlan, _ source: any StorageContext, _ options: MigrationOptions, records limit: Int,
    bytes byteLimit: Int
  ) throws {
    let snapshot = try source.snapshot()
    let chosen = Set(plan.models.map { StoredName($0.name) })
    for schema in try snapshot.catalog() where chosen.contains(StoredName(schema.name)) {
      var mapper = try RecordMapper(options.mapping, schema, allowsLoss: true)
      let target = RowBuffer(count: mapper.destination.fields.count)
      let results = try snapshot.fetch(try FetchRequest(schema, limit: limit))
      var (count, size) = (0, 0)
      try store.transaction { transaction in
        try transaction.define(mapper.destination)
        while count < limit, size < byteLimit {
          // One by one, so that a record that cannot be read or carried over is no more than passed over.
          do {
            let read = try results.read(from: count, limit: 1) { row in
              try mapper.map(row, into: target)
              try target.withRow { try transaction.insert($0, in: mapper.destination) }
              size += row.approximateSize
              records += 1
            }
            if read == 0 { break }
          } catch let error as PersistenceError where !Self.stops.contains(error.code) {}
          count += 1
        }
      }
      bytes += size
    }
  }

  private static let stops: [PersistenceError.Code] = [.inputOutput, .closed, .storeFull, .accessDenied]
}
