import Foundation
import Synchronization

/// Runs checks against a context, one after another, each with a time limit, and reports by rule.
public struct ConformanceSuite: Sendable {
  /// The checks that are run.
  public var checks: [ConformanceCheck]

  /// How long one check may take before it counts as broken: a context may hang.
  public var timeLimit: Duration

  /// Makes a suite.
  ///
  /// - Parameters:
  ///   - checks: The checks that are run.
  ///   - timeLimit: How long one check may take.
  public init(checks: [ConformanceCheck] = ConformanceCheck.all, timeLimit: Duration = .seconds(300)) {
    self.checks = checks
    self.timeLimit = timeLimit
  }

  /// Runs the checks.
  ///
  /// It blocks no thread of the caller's: each check has a thread of its own. A check that does not come back in
  /// time keeps that thread.
  ///
  /// - Parameters:
  ///   - context: The context.
  ///   - progress: Called before each check.
  /// - Returns: What held, what did not, and what was excused.
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
              "the check did not come to its end", expected: "an answer within \(timeLimit)", found: "none",
              file: #fileID, line: #line)))
      }
      Thread.detachNewThread {
        let excuse = Result { try check.excuse(for: context) }
        switch (excuse, check.body) {
        case (.failure(let error), _): answer.give(.broken(by: error))
        case (.success(let excuse?), _): answer.give(.excused(by: excuse.capability))
        case (.success(nil), .blocking(let body)):
          answer.give(.init(of: Result { try context.withScratch { try body($0) } }))
        case (.success(nil), .asynchronous(let body)):
          // Not in turn with others: one that hangs must not keep those behind it from theirs.
          _ = CheckThreads.task {
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

  /// The first answer counts.
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
          "the context threw where it should not", expected: "no error", found: "\(error)", file: #fileID,
          line: #line))
  }
}
