import Foundation
import PersistenceCore

/// Runs the worker on new stores with recorded file calls, and asks another worker what states of them contain.
struct RecordedStore {
  let context: ContextUnderTest
  /// The seed of the script of transactions.
  let seed: UInt64

  /// The longest run of a worker, in seconds; a run takes a fraction of one.
  private static let patience = 120.0

  /// One run of the worker.
  struct Outcome {
    var run: RecordedRun
    var lines: [String]
    var ending: WorkerProcess.Ending
    /// The store that the run left.
    var store: StoreUnderTest
  }

  /// Runs a command of the worker on a new store.
  func run(_ command: String, _ arguments: [String], failing fault: FileFault? = nil) throws -> Outcome {
    guard let worker = context.worker else {
      throw ConformanceFailure(
        "\(context) declares that its stores are durable", expected: "a worker program", found: "none",
        file: #fileID, line: #line)
    }
    let store = try context.makeStore()
    let log = try context.requireScratch().make("log").appendingPathComponent("calls")
    let environment = try FileRecorder.environment(root: store.folder, log: log, failing: fault)
    let process = try WorkerProcess(
      worker, [command, store.path, OpeningOptions.patient.argument, "\(seed)"] + arguments,
      environment: environment)
    // Weak, because a cancelled item lives until its deadline, and would keep the pipes of the process open.
    let limit = DispatchWorkItem { [weak process] in process?.kill() }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience, execute: limit)
    let ending = process.waitUntilOver()
    limit.cancel()
    let events = try FileEvent.decode((try? Data(contentsOf: log)) ?? Data())
    try? FileManager.default.removeItem(at: log.deletingLastPathComponent())
    return Outcome(run: RecordedRun(events), lines: process.lines, ending: ending, store: store)
  }

  /// Expects a run without faults to succeed, and the recorder to have seen all of its calls.
  func runCompletely(_ command: String, _ arguments: [String]) throws -> Outcome {
    let outcome = try run(command, arguments)
    let trouble = outcome.lines.first { line in
      ["refused", "un", "inconsistent", "error"].contains { line.hasPrefix($0) }
    }
    guard outcome.ending == .success, trouble == nil else {
      throw ConformanceFailure(
        "The context failed without any fault of the medium.",
        expected: "transactions that are acknowledged",
        found: trouble ?? "exit code \(outcome.ending.status)",
        file: #fileID, line: #line)
    }
    let marks = outcome.run.events.count { if case .mark = $0 { true } else { false } }
    guard marks > 0 else {
      throw ConformanceFailure(
        "The recorder was not loaded by the worker.", expected: "recorded file calls", found: "none",
        file: #fileID, line: #line)
    }
    let missed = try outcome.run.missedCalls(in: outcome.store.folder)
    guard missed.isEmpty else {
      throw ConformanceFailure(
        "The recorder did not see all file calls of the context, so a loss of power cannot be checked.",
        expected: "file calls through the C library's functions (not fopen, io_uring or direct system calls)",
        found: missed.prefix(5).joined(separator: "; "), file: #fileID, line: #line)
    }
    return outcome
  }
}
