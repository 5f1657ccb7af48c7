import Synchronization

/// Picks query plans at random, the same ones on every run.
///
/// Every plan that can answer a request returns the same rows in the same order. A store that takes any of
/// them must therefore pass the same checks as one that takes the cheapest.
package final class RandomPlanChooser: Sendable {
  private let generator = Mutex(SeededGenerator(seed: 0))

  package init() {}

  /// Picks the position of one plan out of a number of plans.
  package func choose(_ count: Int) -> Int { generator.withLock { $0.int(0...count - 1) } }
}
