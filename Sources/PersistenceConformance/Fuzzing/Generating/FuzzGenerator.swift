import PersistenceCore

/// Generates programs from a seed.
///
/// Values must meet to reveal defects. Each field therefore draws from a small pool, keys from another, and
/// rollbacks, rejected writes, nils, ties and page boundaries are frequent.
struct FuzzGenerator {
  var random: SeededGenerator
  /// Chooses the reads that are interrupted, without a change of the program's other steps.
  private var interruptions: SeededGenerator
  let isLarge: Bool
  /// Whether the program uses the typed model and its collections.
  let isTyped: Bool
  /// Whether the program's steps are those of versions of an app.
  let isVersioned: Bool
  /// Whether the program's models refer to each other.
  let isRelated: Bool
  let limits: FuzzLimits
  /// The values for rows of each schema, by the schema's position.
  var models: [FuzzModel] = []
  /// The declarations that the store contains now, as far as the generator knows, by position.
  var current: [Int] = []
  /// What declarations say of the past, by position.
  var words: [Int: FuzzWords] = [:]
  /// The number of declarations from changes of schema so far.
  var evolutions = 0
  var relations: [FuzzRelation] = []
  /// The number of conditions on related records around the one that is made.
  var relatedDepth = 0

  init(
    seed: UInt64, isLarge: Bool, isTyped: Bool, isVersioned: Bool = false, isRelated: Bool = false,
    limits: FuzzLimits
  ) {
    random = SeededGenerator(seed: seed)
    interruptions = SeededGenerator(seed: ~seed)
    self.isLarge = isLarge
    self.isTyped = isTyped
    self.isVersioned = isVersioned && limits.changesSchemas
    self.isRelated = isRelated
    self.limits = limits
  }

  mutating func program() -> FuzzProgram {
    if isVersioned { return versionedProgram() }
    if isRelated { return relatedProgram() }
    makeModels()
    var steps = opening()
    let count = isLarge ? random.int(8...20) : random.int(15...50)
    for _ in 0..<count { steps.append(step()) }
    steps += ending()
    return FuzzProgram(schemas: models.map(\.schema), steps: steps)
  }

  /// Returns a read, or sometimes one that is interrupted.
  mutating func maybeInterrupted(_ step: FuzzStep) -> FuzzStep {
    guard interruptions.int(1...100) <= 6 else { return step }
    return .interrupted(step, atCheck: interruptions.pick([1, 1, 2, 3, 5, 9]))
  }

  /// Returns true with a probability in percent.
  mutating func chance(_ percent: Int) -> Bool { random.int(1...100) <= percent }

  /// Returns one of several elements, by weight.
  mutating func weighted<Choice>(_ choices: [(Int, Choice)]) -> Choice {
    var rest = random.int(1...choices.reduce(0) { $0 + $1.0 })
    for (weight, choice) in choices {
      rest -= weight
      if rest <= 0 { return choice }
    }
    return choices[choices.count - 1].1
  }
}

struct FuzzModel {
  var schema: ModelSchema
  /// The keys: a value for each key field.
  var keys: [[PersistentValue]]
  /// The values of each field, by position, including key fields.
  var pools: [[PersistentValue]]
}
