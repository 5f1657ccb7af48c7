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
      let outcome = await outcome(of: check, on: context)
      report.entries.append(
        ConformanceReport.Entry(
          title: check.title, rules: check.rules, outcome: outcome,
          seconds: (ContinuousClock.now - start) / .seconds(1)))
    }
    return report
  }

  private func outcome(of check: ConformanceCheck, on context: ContextUnderTest) async
    -> ConformanceReport.Outcome
  {
    await withCheckedContinuation { continuation in
      let answer = Answer(continuation)
      DispatchQueue.global().asyncAfter(deadline: .now() + timeLimit / .seconds(1)) {
        answer.give(
          .broken(
            ConformanceFailure(
              "the check did not finish", expected: "an outcome within \(timeLimit)", found: "none",
              file: #fileID, line: #line)))
      }
      BlockingThread("persistence check") {
        let excuse = Result { try check.excuse(for: context) }
        switch (excuse, check.body) {
        case (.failure(let error), _): answer.give(.broken(by: error))
        case (.success(let excuse?), _): answer.give(.excused(by: excuse.capability))
        case (.success(nil), .blocking(let body)):
          answer.give(.init(of: Result { try context.withScratch { try body($0) } }))
        case (.success(nil), .asynchronous(let body)):
          // Outside the queue of the executor, so that a hanging check does not delay those behind it.
          _ = CheckExecutor.task {
            do {
              let scratch = try ScratchFolder(in: context.folder)
              defer { scratch.remove() }
              try await body(context.standing(in: scratch))
              answer.give(.held)
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
    private let continuation: Mutex<CheckedContinuation<ConformanceReport.Outcome, Never>?>

    init(_ continuation: CheckedContinuation<ConformanceReport.Outcome, Never>) {
      self.continuation = Mutex(continuation)
    }

    func give(_ outcome: ConformanceReport.Outcome) {
      let waiting = continuation.withLock { continuation in
        let waiting = continuation
        continuation = nil
        return waiting
      }
      waiting?.resume(returning: outcome)
    }
  }
}

extension ConformanceReport.Outcome {
  fileprivate init(of result: Result<Void, any Error>) {
    switch result {
    case .success: self = .held
    case .failure(let error): self = .broken(by: error)
    }
  }

  fileprivate static func broken(by error: any Error) -> Self {
    .broken(
      error as? ConformanceFailure
        ?? ConformanceFailure(
          "the context threw an unexpected error", expected: "no error", found: "\(error)", file: #fileID,
          line: #line))
  }
}
