import PersistenceCore

/// Runs random programs on contexts and on an independent reference model.
///
/// After each step, it compares rows, order and errors.
///
/// ```swift
/// let report = try Fuzzer(seed: 1, operations: 20_000).run(on: [mine])
/// for difference in report.differences { print(difference.testSource()) }
/// ```
public struct Fuzzer: Sendable {
  /// The seed of all random choices; the same seed gives the same programs on every machine.
  public var seed: UInt64
  /// The number of operations to run on every context.
  public var operations: Int
  /// The number of differences that ends the run.
  public var differenceLimit = 1
  /// The number of runs for shrinking a program.
  public var replayLimit = 2_000
  /// The time for shrinking a program.
  public var shrinkingTime = Duration.seconds(60)

  /// Creates a fuzzer.
  ///
  /// - Parameters:
  ///   - seed: The seed of all random choices.
  ///   - operations: The number of operations to run on every context.
  public init(seed: UInt64, operations: Int) {
    self.seed = seed
    self.operations = operations
  }

  /// Runs programs, each on all contexts side by side.
  ///
  /// - Parameters:
  ///   - contexts: The contexts.
  ///   - progress: Called after each program; an error that it throws ends the run.
  /// - Returns: The numbers of operations and programs, and the differences.
  /// - Throws: ``PersistenceError`` if a store cannot be created, and the error of the closure.
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
      try progress(FuzzProgress(operations: report.operations, total: operations, programs: report.programs))
    }
    return report
  }

  func program(_ number: Int, within limits: FuzzLimits = FuzzLimits([])) -> FuzzProgram {
    var mixing = SeededGenerator(seed: seed)
    let base = mixing.next()
    var generator = FuzzGenerator(
      seed: base &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15, isLarge: number % 10 == 9 || number % 20 == 14,
      isTyped: number % 10 == 4, isVersioned: number % 10 == 7, isRelated: number % 10 == 2,
      limits: limits)
    return generator.program()
  }
}
