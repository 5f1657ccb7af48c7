package import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

/// A context with one defect that an engine could have, to see that the suite and the fuzzer can fail.
package struct PlantedDefect: Sendable {
  /// What the context does wrongly, in a few words.
  package let name: String

  /// The rules that it breaks, the one that it is about first.
  package let rules: [ContractRule]

  /// Whether it is a matter of meaning, which random work in one process shows: then the fuzzer must find it too.
  package let isSemantic: Bool

  /// The broken context.
  package let context: ContextUnderTest

  /// A defect in whatever opens a store.
  init(
    _ name: String, _ rules: ContractRule..., isSemantic: Bool = false,
    opening: @escaping ContextUnderTest.Opening
  ) {
    self.init(name, rules: rules, isSemantic: isSemantic, opening: opening)
  }

  /// A defect in whatever opens a store.
  init(
    _ name: String, rules: [ContractRule], isSemantic: Bool = false,
    opening: @escaping ContextUnderTest.Opening
  ) {
    self.name = name
    self.rules = rules
    self.isSemantic = isSemantic
    context = ContextUnderTest(
      name, worker: .besideThisProgram("DefectWorker", arguments: [name]), opening: opening)
  }

  /// A defect in a context in memory.
  ///
  /// - Parameters:
  ///   - name: What it does wrongly.
  ///   - rules: The rules that it breaks.
  ///   - isSemantic: Whether the fuzzer must find it.
  ///   - plant: Plants the flaw; called for every store that is opened.
  init(
    _ name: String, _ rules: ContractRule..., isSemantic: Bool = true,
    _ plant: @escaping @Sendable (inout Flaw) -> Void
  ) {
    self.init(name, rules: rules, isSemantic: isSemantic, plant)
  }

  /// A defect in a context in memory.
  init(
    _ name: String, rules: [ContractRule], isSemantic: Bool = true,
    _ plant: @escaping @Sendable (inout Flaw) -> Void
  ) {
    self.name = name
    self.rules = rules
    self.isSemantic = isSemantic
    context = ContextUnderTest(name) { _, options, monitoring in
      var flaw = Flaw()
      plant(&flaw)
      return FlawedContext(memory(options, monitoring), flaw)
    }
  }
}

extension PlantedDefect: CustomStringConvertible {
  /// The name.
  package var description: String { name }
}

extension PlantedDefect {
  /// Every defect.
  package static let all: [PlantedDefect] = [
    observation, values, comparisons, searches, orders, pages, writing, transactions, indexes, results,
    schemas, errors, waiting, media,
  ].flatMap { $0 }
}

/// A context in memory, opened as a check wants it.
func memory(_ options: OpeningOptions, _ monitoring: Monitoring) -> MemoryContext {
  MemoryContext(
    busyTimeout: .milliseconds(options.busyMilliseconds ?? 5000), monitoring: monitoring)
}
