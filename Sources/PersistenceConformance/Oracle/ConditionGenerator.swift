import PersistenceCore

/// Random filters on people, nested to a depth.
struct ConditionGenerator {
  var random: SeededGenerator

  mutating func condition(depth: Int) -> Condition<Person> {
    guard depth > 0, !random.oneIn(4) else { return leaf() }
    switch random.int(0...2) {
    case 0: return condition(depth: depth - 1) && condition(depth: depth - 1)
    case 1: return condition(depth: depth - 1) || condition(depth: depth - 1)
    default: return !condition(depth: depth - 1)
    }
  }

  private mutating func leaf() -> Condition<Person> {
    switch random.int(0...11) {
    case 0: return random.pick(Condition.comparisons(optional: \Person.age, random.int(0...5)))
    case 1:
      return random.pick(Condition.comparisons(\Person.score, random.pick([0, 0.5, -1, .infinity, .nan])))
    case 2: return random.pick(Condition.comparisons(optional: \Person.height, random.pick([0, 0.5, .nan])))
    case 3: return random.pick(Condition.comparisons(\Person.team, random.pick(["red", "Red", "", "blue"])))
    case 4:
      return random.pick(Condition.comparisons(\Person.name, random.pick(["Ada", "É", "E\u{301}mile", ""])))
    case 5: return random.pick(Condition.nilComparisons(\Person.joined))
    case 6: return random.pick(Condition.comparisons(\Person.team, with: \Person.name))
    case 7: return random.pick(Condition.comparisons(\Person.age, with: \Person.seat))
    case 8: return .in(\Person.age, random.pick([[], [nil], [1, 2], [nil, 3], [0, 1, 2, 3, 4, 5]]))
    case 9:
      let needle = random.pick(["a", "%", "_", "E", "", "\0"])
      return Condition(.contains(\Person.name, needle)) {
        TextOracle.contains($0.name, needle, caseInsensitive: false)
      }
    case 10:
      let needle = random.pick(["A", "é", "p-1"])
      return Condition(.hasPrefix(\Person.id, needle, caseInsensitive: true)) {
        TextOracle.hasPrefix($0.id, needle, caseInsensitive: true)
      }
    default:
      let tags = random.pick([[], ["a"], ["a", "b"]])
      return Condition(\Person.tags == tags) { $0.tags == tags }
    }
  }
}
