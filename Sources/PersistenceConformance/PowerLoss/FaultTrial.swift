import Foundation

/// Runs a script of transactions once for each call that can fail, and lets that call fail.
struct FaultTrial {
  let context: ContextUnderTest
  let seed: UInt64
  /// The most calls of one class that fail, each in a run of its own; nil for all.
  let limit: Int?
  /// The states after a loss of power that are opened for each run; 0 for none.
  let states: Int

  /// The opened stores and transactions of a run.
  private static let script = ["2", "3"]
  private static let batch = 32

  /// A run that is over, with the contents that its store may have.
  private struct Left {
    var fault: FileFault
    var history: CommitHistory
    var store: StoreUnderTest
  }

  /// Throws for the first fault that the context does not survive, or if no call of a class that it makes could fail.
  ///
  /// The report counts the failed calls of each class; 0 says that the context makes none.
  ///
  /// - Returns: The number of faults that happened.
  @discardableResult
  func check(_ kinds: [(calls: FileFault.Calls, code: Int32)]) throws -> Int {
    let recorded = RecordedStore(context: context, seed: seed)
    let calm = try recorded.runCompletely("script", Self.script)
    var random = SeededGenerator(seed: seed)
    var left: [Left] = []
    var sum = 0
    for (calls, code) in kinds {
      let total = try calls == .allocate ? allocations(recorded) : calm.run.count(calls)
      var count = 0
      for first in numbers(total, using: &random) {
        // Some faults pass, as a full disk does; others last.
        for isLasting in limit == nil ? [false, true] : [first.isMultiple(of: 2)] {
          let fault = FileFault(calls: calls, code: code, first: first, isLasting: isLasting)
          let outcome = try recorded.run("script", Self.script, failing: fault)
          count += outcome.run.hasFault ? 1 : 0
          left.append(Left(fault: fault, history: try history(of: outcome, fault), store: outcome.store))
          if states > 0 {
            try PowerLossTrial(
              context: context, seed: seed, limit: states, circumstance: "\(fault.sentence) "
            ).check(outcome.run)
          }
          if left.count == Self.batch { try survey(&left) }
        }
      }
      try expect(count > 0 || total == 0, "none of \(total) calls failed: \(calls.text)")
      CheckTrace.count("faults (\(calls.text))", count)
      sum += count
    }
    try survey(&left)
    return sum
  }

  private func allocations(_ recorded: RecordedStore) throws -> Int {
    let never = FileFault(calls: .allocate, code: ENOMEM, first: Int.max, isLasting: false)
    return try recorded.run("script", Self.script, failing: never).run.count(.allocate)
  }

  /// The calls to fail: all, or the first, the last and some between.
  private func numbers(_ total: Int, using random: inout SeededGenerator) -> [Int] {
    guard let limit, total > limit else { return Array(1...max(1, total)).filter { $0 <= total } }
    return Set([1, total] + (2..<total).shuffled(using: &random).prefix(limit - 2)).sorted()
  }

  /// Checks what the worker printed, and returns what its store may contain.
  private func history(of outcome: RecordedStore.Outcome, _ fault: FileFault) throws -> CommitHistory {
    func failure(_ found: String, expected: String) -> ConformanceFailure {
      ConformanceFailure(
        "\(fault.sentence) \(found)", expected: expected, found: found, file: #fileID, line: #line)
    }
    guard !outcome.ending.isSignal else {
      throw failure(
        "The context ended the process with signal \(outcome.ending.status).",
        expected: "a PersistenceError, or success")
    }
    var expectations = Expectations(script: CommitScript(seed: seed))
    var history = CommitHistory()
    for line in outcome.lines {
      history.take(line)
      let words = line.split(separator: " ").map(String.init)
      switch words.first {
      case "untyped", "error":
        throw failure("The context threw another error: \(line)", expected: "a PersistenceError (E2)")
      case "inconsistent":
        throw failure("The context's indexes disagree: \(line)", expected: "indexes that match the records")
      case "content" where words.count == 3:
        guard try expectations.permits(words[2], after: history) else {
          throw failure(
            "The same context then showed a state that was never committed: its newest transaction is \(words[1]).",
            expected: "exactly the acknowledged transactions")
        }
      default: break
      }
    }
    guard outcome.ending.status == 0 else {
      throw failure(
        "The worker ended with code \(outcome.ending.status).", expected: "a PersistenceError, or success")
    }
    return history
  }

  /// Opens the stores that the runs left, without faults.
  private func survey(_ left: inout [Left]) throws {
    defer {
      for run in left { try? FileManager.default.removeItem(at: run.store.folder) }
      left = []
    }
    var expectations = Expectations(script: CommitScript(seed: seed))
    let findings = try StateSurvey(context: context, seed: seed).findings(left.map(\.store))
    for (run, finding) in zip(left, findings) {
      let found: String
      switch finding {
      case .content(let digest, let last, _):
        if try expectations.permits(digest, after: run.history) { continue }
        found =
          "the newest transaction is \(last), acknowledged were "
          + run.history.outcomes.map { "\($0)" }.joined(separator: " or ")
      case .fault(let text): found = text
      }
      throw ConformanceFailure(
        "\(run.fault.sentence) After the store was opened again, it did not have exactly the acknowledged transactions.",
        expected: "a commit that throws leaves nothing, unless the code is outcomeUnknown (W5)",
        found: found, file: #fileID, line: #line)
    }
  }
}

extension FileFault {
  /// The fault as a sentence.
  var sentence: String { "\(description.prefix(1).uppercased())\(description.dropFirst())." }
}
