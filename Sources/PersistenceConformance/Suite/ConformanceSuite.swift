import Foundation
import PersistenceDriverSupport
import Synchronization

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

  private func outcome(of check: ConformanceCheck, on context: ContextUnderTest) async -> Answer.Content {
    await withCheckedContinuation { continuation in
      let answer = Answer(continuation)
      DispatchQueue.global().asyncAfter(deadline: .now() + timeLimit / .seconds(1)) {
        answer.give(.broken(check.timeout(timeLimit)))
      }
      BlockingThread("persistence check") {
        let excuse = Result { try check.excuse(for: context) }
        switch (excuse, check.body) {
        case (.failure(let error), _): answer.give(.broken(by: error))
        case (.success(let excuse?), _): answer.give(.excused(by: excuse.capability))
        case (.success(nil), .blocking(let body)):
          do {
            answer.give(.held, try check.perform(body, on: context).counts)
          } catch {
            answer.give(.broken(by: error))
          }
        case (.success(nil), .asynchronous(let body)):
          // Outside the queue of the executor, so that a hanging check does not delay those behind it.
          _ = CheckExecutor.task {
            do {
              answer.give(.held, try await check.perform(body, on: context).counts)
            } catch {
              answer.give(.broken(by: error))
            }
          }
        }
      }
    }
  }

  /// Resumes with the first outcome, and ignores later ones.
  private final class Answer: Sendable {
    typealias Content = (outcome: ConformanceReport.Outcome, counts: [String: Int])

    private let continuation: Mutex<CheckedContinuation<Content, Never>?>

    init(_ continuation: CheckedContinuation<Content, Never>) {
      self.continuation = Mutex(continuation)
    }

    func give(_ outcome: ConformanceReport.Outcome, _ counts: [String: Int] = [:]) {
      let waiting = continuation.withLock { continuation in
        let waiting = continuation
        continuation = nil
        return waiting
      }
      waiting?.resume(returning: (outcome, counts))
    }
  }
}

extension ConformanceReport.Outcome {
  fileprivate static func broken(by error: any Error) -> Self {
    .broken(
      error as? ConformanceFailure
        ?? ConformanceFailure(
          "opening a new store, to read its capabilities", expected: "no error", found: "\(error)",
          file: #fileID, line: #line))
  }
}
