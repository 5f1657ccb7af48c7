import PersistenceDriver
import PersistencePlanner
import PersistenceDriverSupport

/// What the planner is told about a model, from the store itself.
struct PathStatistics: PlanStatistics {
  /// How many bytes of records a sample reads at most.
  private static let sampledBytes = 4 << 20

  private let binding: ModelBinding
  private let reader: any ByteReader
  private let location: String

  init(_ binding: ModelBinding, _ reader: any ByteReader, location: String) {
    self.binding = binding
    self.reader = reader
    self.location = location
  }

  func total() throws -> Int { try Catalog.count(of: binding.model, reader) }

  func entries(of plan: AccessPlan, upTo limit: Int) throws -> Int {
    try AccessPath(plan, binding, longestKey: reader.longestKey).count(reader, limit: limit)
  }

  func sample(_ conditions: [PredicateNode]) throws -> PlanSample {
    let predicates = try conditions.map { try CompiledPredicate($0, in: binding.declared) }
    let positions = Set(predicates.flatMap { $0.positions }).sorted()
    var sample = PlanSample(size: 0, fits: [UInt64](repeating: 0, count: conditions.count))
    let access = RecordAccess(binding, reader, location: location)
    let row = reader.workspace.takeRow(binding.layout.count)
    defer { reader.workspace.giveBack(row) }
    var left = Self.sampledBytes
    try KeyBisection.sample(of: binding.prefix, reader, limit: PlanSample.limit) { record in
      // A record is verified whole before any of it is looked at, which long ones make dear; and a damaged one is
      // reported by whoever asks for it, not by an estimate.
      guard record.value.count <= left, (try? access.fill(row, from: record, only: positions)) != nil else {
        return
      }
      left -= record.value.count
      for (number, predicate) in predicates.enumerated()
      where (try? row.withRow({ try predicate.matches($0) })) ?? false {
        sample.fits[number] |= 1 << UInt64(sample.size)
      }
      sample.size += 1
    }
    return sample
  }
}
