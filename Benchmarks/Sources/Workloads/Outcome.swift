import Foundation

/// The times of a workload's contenders.
struct Outcome: Codable {
  /// The time of one run of one contender, in seconds.
  struct Timing: Codable {
    let name: String
    let median: Double
    let least: Double
  }

  let work: String
  let units: Int
  let unit: String
  let goal: Double
  let reference: String
  let answer: Answer
  let timings: [Timing]

  /// Returns the median of a contender.
  func median(of name: String) -> Double? { timings.first { $0.name == name }?.median }

  /// Returns a contender's time as a multiple of the reference's.
  func ratio(of name: String) -> Double? {
    guard let own = median(of: name), let limit = median(of: reference), limit > 0 else { return nil }
    return own / limit
  }

  /// The library's time as a multiple of the reference's.
  var ratio: Double { ratio(of: Names.library) ?? .infinity }

  /// Whether the library met its goal, at the two printed digits.
  var isMet: Bool { (ratio * 100).rounded() <= (goal * 100).rounded() }
}

/// The results of a run, and its machine.
struct Report: Codable {
  var rows: Int
  var repetitions: Int
  var cores: Int
  /// The machine's load over the last minute, before and after.
  var load: [Double]
  var engines: [Section]

  /// The outcomes of one engine, from one process.
  struct Section: Codable {
    let engine: Engine
    let outcomes: [Outcome]
  }

  /// The load of the last minute.
  static func currentLoad() -> Double {
    var averages = [0.0, 0, 0]
    return getloadavg(&averages, 3) > 0 ? averages[0] : 0
  }
}
