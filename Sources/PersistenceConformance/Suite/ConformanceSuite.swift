/// Runs checks on a context in sequence, each with a time limit, and reports the outcomes.
public struct ConformanceSuite: Sendable {
  /// The checks to run.
  public var checks: [ConformanceCheck]

  /// The time limit of one check; a check that exceeds it fails, because a context may hang.
  public var timeLimit: Duration

  /// Creates a suite.
  ///
  /// - Parameters:
  ///   - checks: The checks to run.
  ///   - timeLimit: The time limit of one check.
  public init(checks: [ConformanceCheck] = ConformanceCheck.all, timeLimit: Duration = .seconds(300)) {
    self.checks = checks
    self.timeLimit = timeLimit
  }

  /// Creates a suite of some rules' checks, or of the inner loop's.
  ///
  /// ```swift
  /// let report = await ConformanceSuite(only: [.w4], isQuick: true).run(on: mine)
  /// ```
  ///
  /// - Parameters:
  ///   - rules: The rules whose checks run; all if it is empty.
  ///   - isQuick: Whether to leave out checks that start processes or take longer than a fraction of a second.
  public init(only rules: Set<ContractRule>, isQuick: Bool = false) {
    self.init(
      checks: ConformanceCheck.all.filter { check in
        (rules.isEmpty || !rules.isDisjoint(with: check.rules)) && (!isQuick || check.isQuick)
      })
  }

  /// Runs the checks.
  ///
  /// It does not block the caller's threads, because each check has its own thread. A check that exceeds its
  /// time limit keeps that thread.
  ///
  /// - Parameters:
  ///   - context: The context.
  ///   - progress: Called before each check.
  /// - Returns: The outcome of each check.
  public func run(
    on context: ContextUnderTest, progress: @Sendable (ConformanceCheck) -> Void = { _ in }
  ) async -> ConformanceReport {
    var report = ConformanceReport(context: context.name)
    for check in checks {
      if Task.isCancelled { break }
      progress(check)
      let start = ContinuousClock.now
      let (outcome, counts) = await outcome(of: check, on: context)
      report.entries.append(
        ConformanceReport.Entry(
          title: check.title, rules: check.rules, outcome: outcome,
          seconds: (ContinuousClock.now - start) / .seconds(1), counts: counts))
    }
    return report
  }
}
