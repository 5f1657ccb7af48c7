package import PersistenceConformance
import PersistenceCore
import PersistenceDriverSupport

/// A context with one realistic defect, to show that the suite and the fuzzer can fail.
package struct PlantedDefect: Sendable {
  /// The defect, in a few words.
  package let name: String

  /// The rules that it breaks, the main one first.
  package let rules: [ContractRule]

  /// Whether random programs in one process reveal it, so that the fuzzer must find it too.
  package let isSemantic: Bool

  /// The broken context.
  package let context: ContextUnderTest

  /// The title of the check that must catch the defect; nil if any check may.
  package private(set) var check: String?

  /// Whether a check of the defect waits for ever: no other defect may be caught by a time limit.
  package private(set) var hangs = false

  /// Creates a defect in the opening of a store.
  init(
    _ name: String, _ rules: ContractRule..., isSemantic: Bool = false,
    opening: @escaping ContextUnderTest.Opening
  ) {
    self.init(name, rules: rules, isSemantic: isSemantic, opening: opening)
  }

  /// Creates a defect in the opening of a store.
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

  /// Creates a defect in an in-memory context.
  ///
  /// - Parameters:
  ///   - name: The defect, in a few words.
  ///   - rules: The rules that it breaks.
  ///   - isSemantic: Whether the fuzzer must find it.
  ///   - plant: Sets the flaw; called for every opened store.
  init(
    _ name: String, _ rules: ContractRule..., isSemantic: Bool = true,
    _ plant: @escaping @Sendable (inout Flaw) -> Void
  ) {
    self.init(name, rules: rules, isSemantic: isSemantic, plant)
  }

  /// Creates a defect in an in-memory context.
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

extension PlantedDefect {
  /// The defect, which the check with this title must catch.
  func caught(by check: String) -> PlantedDefect {
    var copy = self
    copy.check = check
    return copy
  }

  /// The defect, which keeps a check waiting for ever.
  func hanging() -> PlantedDefect {
    var copy = self
    copy.hangs = true
    return copy
  }
}

extension PlantedDefect: CustomStringConvertible {
  /// The name.
  package var description: String { name }
}

extension PlantedDefect {
  /// Every defect.
  package static let all: [PlantedDefect] = [
    observation, relations, values, comparisons, keptPlans, passes, searches, documentParts, orders, pages,
    writing,
    transactions, indexes,
    results, schemas, evolution, errors, waiting, media, calls, lifetimes, reopening, sharing, files,
    resources,
    logs, powerLosses,
  ].flatMap { $0 }
}

/// An in-memory context with a check's options.
func memory(_ options: OpeningOptions, _ monitoring: Monitoring) -> MemoryContext {
  MemoryContext(
    busyTimeout: .milliseconds(options.busyMilliseconds ?? 5000), monitoring: monitoring)
}
