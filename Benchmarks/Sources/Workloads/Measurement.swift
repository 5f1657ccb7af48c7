import Foundation

/// Measures the relevant parts of a run.
struct Stopwatch {
  private(set) var elapsed = Duration.zero

  /// Runs measured work.
  mutating func measure<Result>(_ work: () throws -> Result) rethrows -> Result {
    let start = ContinuousClock.now
    let result = try work()
    elapsed += ContinuousClock.now - start
    return result
  }
}

/// One contender's implementation of a workload.
struct Entrant {
  /// Runs the work once, with preparation and checks outside the measured time.
  typealias Run = (inout Stopwatch) throws -> Answer

  let name: String
  let run: Run

  init(_ name: String, _ run: @escaping Run) {
    self.name = name
    self.run = run
  }
}

/// Work of several contenders, and the library's goal.
struct Workload {
  let name: String
  /// The number of units in one run.
  let units: Int
  /// The unit, such as a row.
  let unit: String
  /// The library's goal, as a multiple of the reference's time.
  let goal: Double
  /// The reference of the ratios.
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

  /// Runs all entrants in turn, repeatedly after a warm-up.
  ///
  /// - Parameter repetitions: The number of repetitions.
  /// - Returns: The medians.
  /// - Throws: ``Disagreement`` if the entrants' results differ, and errors of entrants.
  func measure(repetitions: Int) throws -> Outcome {
    // Otherwise the system writes what earlier work has left beside the measured work, and synchronizes it with that.
    sync()
    var seconds = Array(repeating: [Double](), count: entrants.count)
    var agreed: Answer?
    for round in 0...repetitions {
      for turn in entrants.indices {
        // Each entrant is first in some rounds, because the first one finds other caches.
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

/// The results of contenders differ, so their times mean nothing.
struct Disagreement: Error, CustomStringConvertible {
  let workload: String
  let entrant: String
  let answer: Answer
  let others: Answer

  var description: String { "\(workload): \(entrant) found \(answer), others \(others)" }
}
