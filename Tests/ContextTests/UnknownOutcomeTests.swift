import Foundation
import OurContexts
import PersistenceCore
import Testing

@testable import PersistenceConformance

/// The worker commits through the public interface of the context; its file calls fail, as on a broken medium.
@Suite("Commits with an unknown outcome")
struct UnknownOutcomeTests {
  @Test(
    "W5 a commit whose last synchronized write fails is outcomeUnknown; the store opens with it or without it",
    arguments: ContextUnderTest.ours.filter { !["memory", "postgres"].contains($0.name) })
  func unknownOutcome(context: ContextUnderTest) throws {
    let worker = try #require(context.worker)
    if let obstacle = FileRecorder.obstacle(of: worker) {
      #if os(Linux)
        Issue.record("\(obstacle)")
      #endif
      return
    }
    let seed: UInt64 = 80
    let recorded = RecordedStore(context: context, seed: seed)
    let script = ["2", "3"]
    let calm = try recorded.runCompletely("script", script)
    // LMDB writes the header of a commit with O_DSYNC, so its synchronization is a write.
    for calls in [FileFault.Calls.sync, .write] {
      for first in 1..<calm.run.count(calls) + 1 {
        let fault = FileFault(calls: calls, code: EIO, first: first, isLasting: true)
        let outcome = try recorded.run("script", script, failing: fault)
        defer { try? FileManager.default.removeItem(at: outcome.store.folder) }
        #expect(outcome.ending == .success, "\(fault.sentence) \(outcome.lines)")
        let refusals = outcome.lines.filter { $0.hasPrefix("refused ") }
        guard refusals.contains(where: { $0.split(separator: " ").dropFirst(2).first == "outcomeUnknown" })
        else { continue }
        var history = CommitHistory()
        for line in outcome.lines { history.take(line) }
        var expectations = Expectations(script: CommitScript(seed: seed))
        let finding = try StateSurvey(context: context, seed: seed).findings([outcome.store]).first
        guard case .content(let digest, _, _)? = finding else {
          Issue.record("\(fault.sentence) \(String(describing: finding))")
          return
        }
        #expect(try expectations.permits(digest, after: history), "\(fault.sentence) \(outcome.lines)")
        return
      }
    }
    Issue.record("no failed call led to outcomeUnknown")
  }
}
