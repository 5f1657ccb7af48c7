import PersistenceCore

/// Shrinks the program of a difference while it still shows one, within a number of runs and a time.
struct FuzzShrinker {
  private let context: ContextUnderTest
  private let replayLimit: Int
  private let deadline: ContinuousClock.Instant
  private var replays = 0
  private(set) var best: FuzzDifference

  init(
    _ difference: FuzzDifference, on context: ContextUnderTest, replayLimit: Int,
    deadline: ContinuousClock.Instant
  ) {
    best = difference
    self.context = context
    self.replayLimit = replayLimit
    self.deadline = deadline
  }

  var isSpent: Bool { replays >= replayLimit || ContinuousClock.now >= deadline }

  mutating func shrink() -> FuzzDifference {
    // Steps after the one with the difference cannot matter.
    if let last = best.path.first { attempt { $0.steps = Array($0.steps.prefix(last + 1)) } }
    var size = Int.max
    while !isSpent, Self.size(of: best.program) < size {
      size = Self.size(of: best.program)
      shrinkSteps()
      // Versions refer to the fields of their schemas by position, and relations to schemas and fields.
      if !best.program.isVersioned, best.program.relations.isEmpty { shrinkSchemas() }
      shrinkQueries()
      shrinkValues()
    }
    return best
  }

  /// Keeps a changed program if it still differs.
  @discardableResult
  mutating func attempt(_ change: (inout FuzzProgram) -> Void) -> Bool {
    guard !isSpent else { return false }
    var program = best.program
    change(&program)
    replays += 1
    guard var difference = try? program.difference(on: [context]) else { return false }
    // The context runs alone here, but was one of several in the original run.
    difference.position = best.position
    best = difference
    return true
  }

  /// Removes elements of a list of the program, in large runs first and then one by one.
  mutating func reduce(_ count: (FuzzProgram) -> Int, _ remove: (inout FuzzProgram, Range<Int>) -> Void) {
    var size = max(1, count(best.program) / 2)
    while !isSpent {
      // From the end, because later steps depend on earlier ones.
      var end = count(best.program)
      while end > 0, !isSpent {
        let range = max(0, end - size)..<end
        attempt { remove(&$0, range) }
        end = min(range.lowerBound, count(best.program))
      }
      if size == 1 { return }
      size /= 2
    }
  }

  private static func size(of program: FuzzProgram) -> Int { FuzzSource.program(program).utf8.count }
}
