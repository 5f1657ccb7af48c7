import PersistenceCore

/// Draws programs from a seed.
///
/// Defects hide where values meet: so each field draws from a small pool of its own, keys from another, and
/// rollbacks, refused writes, nils, ties and the edges of pages are frequent.
struct FuzzGenerator {
  var random: SeededGenerator
  let isLarge: Bool
  /// Whether the program is about the model that has a type, and its collections.
  let isTyped: Bool
  let limits: FuzzLimits
  /// What rows of each schema are made of, by the schema's position.
  var models: [FuzzModel] = []

  init(seed: UInt64, isLarge: Bool, isTyped: Bool, limits: FuzzLimits) {
    random = SeededGenerator(seed: seed)
    self.isLarge = isLarge
    self.isTyped = isTyped
    self.limits = limits
  }

  mutating func program() -> FuzzProgram {
    makeModels()
    var steps = opening()
    let count = isLarge ? random.int(8...20) : random.int(15...50)
    for _ in 0..<count { steps.append(step()) }
    return FuzzProgram(schemas: models.map(\.schema), steps: steps)
  }

  /// True so many times in a hundred.
  mutating func chance(_ percent: Int) -> Bool { random.int(1...100) <= percent }

  /// One of several, by weights.
  mutating func weighted<Choice>(_ choices: [(Int, Choice)]) -> Choice {
    var rest = random.int(1...choices.reduce(0) { $0 + $1.0 })
    for (weight, choice) in choices {
      rest -= weight
      if rest <= 0 { return choice }
    }
    return choices[choices.count - 1].1
  }
}

/// A schema, and the values that its rows are drawn from.
struct FuzzModel {
  var schema: ModelSchema
  /// The keys, each a value for each key field.
  var keys: [[PersistentValue]]
  /// The values of each field, by position; those of key fields too.
  var pools: [[PersistentValue]]
}
