import PersistenceDriver
import PersistencePlanner
import Synchronization

/// Takes any of the plans that can answer a request, where a store was opened to be tested so.
///
/// All plans give the same rows in the same order, so nothing but speed and memory may differ from a store that takes
/// the best.
package final class RandomPlanChooser: Sendable {
  private let throwsSoFar = Atomic<UInt64>(0)

  package init() {}

  /// One of the plans, another one at each call, in the same order in each store.
  func choose(_ plans: [AccessPlan]) -> AccessPlan {
    // Steele, Lea and Flood, “Fast Splittable Pseudorandom Number Generators”, OOPSLA 2014.
    var number = throwsSoFar.add(1, ordering: .relaxed).newValue &* 0x9E37_79B9_7F4A_7C15
    number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
    number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
    return plans[Int((number ^ number >> 31) % UInt64(plans.count))]
  }
}
