import Foundation
import PersistenceDriverSupport
import Synchronization

/// The outcome of one check.
extension ConformanceSuite {
  func outcome(of check: ConformanceCheck, on context: ContextUnderTest) async -> Answer.Content {
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
  final class Answer: Sendable {
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
