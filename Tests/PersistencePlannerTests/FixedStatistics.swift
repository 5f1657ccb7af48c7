import PersistenceDriver
import PersistencePlanner

/// A store that says what a test wants it to.
struct FixedStatistics: PlanStatistics {
  /// How many records there are.
  var records: Int
  /// How many entries every range has.
  var entries: Int
  /// The sample; by default all records fit or none does, as the entries say.
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
    return given ?? PlanSample(size: 64, fits: conditions.map { _ in bits })
  }
}
