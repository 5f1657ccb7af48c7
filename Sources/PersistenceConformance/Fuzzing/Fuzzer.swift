import PersistenceCore

/// Runs programs of chance on contexts and on a reference that shares no code with them, and compares after each
/// step: same rows, same order, same error.
///
/// ```swift
/// let report = try Fuzzer(seed: 1, operations: 20_000).run(on: [mine])
/// for difference in report.differences { print(difference.testSource()) }
/// ```
public struct Fuzzer: Sendable {
  /// From what everything is drawn: the same seed makes the same programs on every machine.
  public var seed: UInt64
  /// How many operations are run, each on every context.
  public var operations: Int
  /// After how many differences the run ends.
  public var differenceLimit = 1
  /// How many times a program is run to make it smaller.
  public var replayLimit = 2_000
  /// How long a program is made smaller.
  public var shrinkingTime = Duration.seconds(60)

  /// Makes a fuzzer.
  ///
  /// - Parameters:
  ///   - seed: From what everything is drawn.
  ///   - operations: How many operations are run, each on every context.
  public init(seed: UInt64, operations: Int) {
    self.seed = seed
    self.operations = operations
  }

  /// Runs programs, each on all contexts side by side.
  ///
  /// - Parameters:
  ///   - contexts: The contexts.
  ///   - progress: Called after each program; what it throws ends the run.
  /// - Returns: What was run, and what differed.
  /// - Throws: ``PersistenceError`` where no store could be made, and what the closure throws.
  public func run(on contexts: [ContextUnderTest], progress: (FuzzProgress) throws -> Void = { _ in }) throws
    -> FuzzReport
  {
    let scratches = try contexts.map { try ScratchFolder(in: $0.folder) }
    defer { for scratch in scratches { scratch.remove() } }
    let standing = zip(contexts, scratches).map { $0.standing(in: $1) }
    let limits = FuzzLimits(try contexts.map { try $0.capabilities() })
    var report = FuzzReport(seed: seed)
    while report.operations < operations, report.differences.count < differenceLimit {
      let program = program(report.programs, within: limits)
      report.programs += 1
      report.operations += program.operations
      if let difference = try program.difference(on: standing) {
        var shrinker = FuzzShrinker(
          difference, on: standing[difference.position], replayLimit: replayLimit,
          deadline: .now + shrinkingTime)
        report.differences.append(shrinker.shrink())
      }
      try progress(
        FuzzProgress(operations: report.operations, total: operations, programs: report.programs))
    }
    return report
  }

  /// The program of a number.
  func program(_ number: Int, within limits: FuzzLimits = FuzzLimits([])) -> FuzzProgram {
    var mixing = SeededGenerator(seed: seed)
    let base = mixing.next()
    var generator = FuzzGenerator(
      seed: base &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15, isLarge: number % 10 == 9 || number % 20 == 14,
      isTyped: number % 10 == 4, limits: limits)
    return generator.program()
  }
}

/// What values must fit so that every context can keep them.
struct FuzzLimits: Sendable {
  /// The longest key, in bytes.
  var largestKey = Int.max
  /// The longest value, in bytes.
  var largestValue = Int.max
  /// Whether dates are kept to the bit.
  var hasExactDates = true

  init(_ capabilities: [Capabilities]) {
    for capabilities in capabilities {
      largestKey = min(largestKey, capabilities.largestKey ?? .max)
      largestValue = min(largestValue, capabilities.largestValue ?? .max)
      if capabilities.datePrecision != .exact { hasExactDates = false }
    }
  }
}
