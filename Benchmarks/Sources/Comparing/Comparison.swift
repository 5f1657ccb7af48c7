import Foundation

/// One row of the table: the library's median beside a reference's.
public struct Comparison {
  let work: String
  let reference: String
  let referenceSeconds: Double
  let seconds: Double
  let goal: Goal

  /// What the library shall reach.
  public enum Goal {
    /// A multiple of the reference.
    case ratio(Double)
    /// Milliseconds more than the reference.
    case more(milliseconds: Double)
    /// Nothing: the reference gives what the library must not.
    case none
  }

  /// Runs both sides in turn, after a warm-up; each is first in half of the rounds.
  public init(
    _ work: String, beside reference: String, _ goal: Goal, rounds: Int, raw: () throws -> Double,
    library: () throws -> Double
  ) throws {
    var (left, right): ([Double], [Double]) = ([], [])
    for round in 0...rounds {
      let isFirst = round.isMultiple(of: 2)
      let first = try isFirst ? raw() : library()
      let second = try isFirst ? library() : raw()
      if round == 0 { continue }
      left.append(isFirst ? first : second)
      right.append(isFirst ? second : first)
    }
    (self.work, self.reference, self.goal) = (work, reference, goal)
    referenceSeconds = left.sorted()[left.count / 2]
    seconds = right.sorted()[right.count / 2]
  }

  /// Whether the goal is met.
  public var isMet: Bool {
    switch goal {
    case .ratio(let limit): (seconds / referenceSeconds * 100).rounded() <= (limit * 100).rounded()
    case .more(let milliseconds): (seconds - referenceSeconds) * 1000 <= milliseconds
    case .none: true
    }
  }
}

extension Comparison: CustomStringConvertible {
  /// The row as text.
  public var description: String {
    let result =
      switch goal {
      case .ratio(let limit): String(format: "%.2f (≤ %.2f)", seconds / referenceSeconds, limit)
      case .more(let limit):
        String(format: "%+.2f ms (≤ %.0f ms)", (seconds - referenceSeconds) * 1000, limit)
      case .none: String(format: "%.2f", seconds / referenceSeconds)
      }
    let times = String(format: "%.2f ms, %@ %.2f ms", seconds * 1000, reference, referenceSeconds * 1000)
    let name = work.padding(toLength: 34, withPad: " ", startingAt: 0)
    return "  \(name) \(result)\(isMet ? "" : "  MISSED")  [\(times)]"
  }
}

/// The time of some work, in seconds.
public func seconds(_ work: () throws -> Void) rethrows -> Double {
  let start = ContinuousClock.now
  try work()
  return (ContinuousClock.now - start) / .seconds(1)
}
