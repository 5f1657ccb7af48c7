/// Measures those parts of a run that count.
struct Stopwatch {
  private(set) var elapsed = Duration.zero

  /// Does work that counts.
  mutating func measure<Result>(_ work: () throws -> Result) rethrows -> Result {
    let start = ContinuousClock.now
    let result = try work()
    elapsed += ContinuousClock.now - start
    return result
  }
}

/// One way to do the work of a workload.
struct Entrant {
  /// Runs the work once: preparing and checking outside of the watch, the work within.
  typealias Run = (inout Stopwatch) throws -> Answer

  let name: String
  let run: Run

  init(_ name: String, _ run: @escaping Run) {
    self.name = name
    self.run = run
  }
}

/// Work that several contenders do, and how well the library means to do it.
struct Workload {
  let name: String
  /// How many of what is counted one run does.
  let units: Int
  /// What is counted, such as rows.
  let unit: String
  /// The most that the library may take, in times of the reference.
  let goal: Double
  /// The entrant that the ratios are of.
  let reference: String
  let entrants: [Entrant]

  init(
    _ name: String, _ units: Int, _ unit: String, goal: Double, of reference: String = Names.raw,
    _ entrants: [Entrant]
  ) {
    self.name = name
    self.units = units
    self.unit = unit
    self.goal = goal
    self.reference = reference
    self.entrants = entrants
  }

  /// Runs all entrants in turn, as often as asked after a first time that does not count.
  ///
  /// - Parameter repetitions: How often.
  /// - Returns: The medians.
  /// - Throws: ``Disagreement`` where entrants found different things, and what an entrant throws.
  func measure(repetitions: Int) throws -> Outcome {
    var seconds = Array(repeating: [Double](), count: entrants.count)
    var agreed: Answer?
    for round in 0...repetitions {
      for turn in entrants.indices {
        // Each begins a round once in a while, since the first finds other caches than the last.
        let number = (turn + round) % entrants.count
        var watch = Stopwatch()
        let answer = try entrants[number].run(&watch)
        if let agreed, agreed != answer {
          throw Disagreement(workload: name, entrant: entrants[number].name, answer: answer, others: agreed)
        }
        agreed = answer
        if round > 0 { seconds[number].append(watch.elapsed / .seconds(1)) }
      }
    }
    return Outcome(
      work: name, units: units, unit: unit, goal: goal, reference: reference, answer: agreed ?? Answer(),
      timings: zip(entrants, seconds).map { entrant, seconds in
        Outcome.Timing(name: entrant.name, median: Self.median(seconds), least: seconds.min() ?? 0)
      })
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}

/// Contenders that were asked for the same and found different things: what they took says nothing.
struct Disagreement: Error, CustomStringConvertible {
  let workload: String
  let entrant: String
  let answer: Answer
  let others: Answer

  var description: String { "\(workload): \(entrant) found \(answer), others \(others)" }
}
