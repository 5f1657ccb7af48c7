import PersistenceDriver
import PersistenceKeyValue

/// Statistics that a test chooses.
struct FixedStatistics: PlanStatistics {
  /// The number of records.
  var records: Int
  /// The number of entries of every range.
  var entries: Int
  /// The sample; by default, all records match or none does, depending on the number of entries.
  var given: PlanSample?

  init(total: Int, entries: Int, sample: PlanSample? = nil) {
    records = total
    self.entries = entries
    given = sample
  }

  func total() throws -> Int { records }

  func entries(of plan: AccessPlan, upTo limit: Int) throws -> Int { min(limit, entries) }

  func sample(_ conditions: [PredicateNode]) throws -> PlanSample {
    let bits: UInt64 = entries * 2 >= records ? .max : 0
    return given ?? PlanSample(size: 64, matches: conditions.map { _ in bits })
  }
}
