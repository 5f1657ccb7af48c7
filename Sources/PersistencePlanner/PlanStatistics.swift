package import PersistenceDriver

/// What a planner may ask of a store, each at a cost that does not grow with it.
///
/// Estimates decide how fast an answer comes, never what it is.
package protocol PlanStatistics {
  /// How many records there are.
  func total() throws -> Int

  /// How many entries a plan's ranges hold, counted up to a limit.
  func entries(of plan: AccessPlan, upTo limit: Int) throws -> Int

  /// Which of some records, taken from all over the model, fit each condition.
  func sample(_ conditions: [PredicateNode]) throws -> PlanSample
}

/// Some records of a model, and which conditions they fit.
package struct PlanSample: Sendable, Hashable {
  /// How many records can be looked at.
  package static let limit = 64

  /// How many records were looked at, at most ``limit``.
  package var size: Int
  /// For each condition one bit for each record, set where it fits.
  package var fits: [UInt64]

  package init(size: Int, fits: [UInt64]) {
    self.size = size
    self.fits = fits
  }

  /// How many of the records fit all of some conditions.
  func hits(_ conditions: Set<Int>) -> Int {
    var all = size >= 64 ? UInt64.max : (1 << UInt64(size)) - 1
    for condition in conditions { all &= fits[condition] }
    return all.nonzeroBitCount
  }

  /// Which part of all records fit all of some conditions.
  ///
  /// Where none of the sample does, it is half of the least part that could have been seen. Where there is no sample,
  /// every condition is taken to leave an eighth.
  package func share(_ conditions: Set<Int>) -> Double {
    guard !conditions.isEmpty else { return 1 }
    guard size > 0 else { return conditions.reduce(1) { share, _ in share / 8 } }
    return max(0.5, Double(hits(conditions))) / Double(size)
  }
}
