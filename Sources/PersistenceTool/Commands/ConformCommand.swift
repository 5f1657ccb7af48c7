#if CommandLineTool
  import ArgumentParser
  import Dispatch
  import Foundation
  import PersistenceConformance
  import PersistenceDriver
  import Synchronization

  /// Runs the conformance suite on a context.
  struct ConformCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "conform", abstract: "Check whether a context conforms to the contract.",
      discussion: """
        The checks create stores in a temporary folder, or in the URL's path, which must be an empty or new folder, and \
        remove them afterwards. The exit code is 1 if the context breaks a rule, or if no check ran.
        """)

    @Argument(help: "The URL of the context, for example sqlite: or lmdb:?sync=off.")
    var url: String?

    @Option(help: "How to print the result: table or json.")
    var format: ResultFormat = .table

    @Option(
      name: [.customLong("only"), .customLong("rule")],
      help: "Run only the checks of this rule, for example V6; may be repeated.")
    var rule: [String] = []

    @Flag(help: "Leave out the checks that start processes or take longer than a fraction of a second.")
    var quick = false

    @Flag(help: "Run many more kills, rounds and seeds.")
    var thorough = false

    @Option(help: "The seed of randomized checks.")
    var seed: UInt64?

    @Flag(help: "Print the contract's rules and their checks, and run nothing.")
    var list = false

    @Option(help: "How to show progress: auto, plain, json or none.")
    var progress: ProgressDisplay.Style = .auto

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let checks = try chosen()
      if list {
        try session.output.line(
          format == .json ? JSONReport.text(RuleTable(checks)) : RuleTable(checks).markdown)
        return .success
      }
      guard let url else {
        throw ToolFailure.usage("the context is missing; use conform URL, or conform --list")
      }
      let contexts = ContextsUnderTest(session: session)
      let context = try contexts.context(url, effort: thorough ? .thorough : .quick, seed: seed)
      let report = try run(checks, on: context, contexts.stores, session)
      try session.print(report, as: format) { try ConformancePrinter(output: $0).print(report) }
      if report.count(where: \.isHeld) + report.count(where: \.isBroken) == 0 {
        try session.say("no check was run: the context's capabilities exclude all of them")
      }
      return report.isConforming ? .success : .differences
    }

    private func chosen() throws -> [ConformanceCheck] {
      guard !(quick && thorough) else {
        throw ToolFailure.usage("--quick and --thorough exclude each other; use one of them")
      }
      let rules = try rule.map { text in
        guard let rule = ContractRule.allCases.first(where: { $0.rawValue.lowercased() == text.lowercased() })
        else {
          let known = ContractRule.allCases.map(\.rawValue).joined(separator: ", ")
          throw ToolFailure.usage("the contract has no rule “\(text)”; the rules are \(known)")
        }
        return rule
      }
      return ConformanceSuite(only: Set(rules), isQuick: quick).checks
    }

    private func run(
      _ checks: [ConformanceCheck], on context: ContextUnderTest, _ stores: ServerStores,
      _ session: ToolSession
    ) throws -> ConformanceReport {
      let display = ProgressDisplay(session, style: progress)
      let started = Atomic(0)
      return try AsyncWork.run {
        // A thorough check lets each of thousands of calls fail.
        let suite = ConformanceSuite(checks: checks, timeLimit: .seconds(thorough ? 7_200 : 300))
        return await suite.run(on: context) { _ in
          started.add(1, ordering: .relaxed)
          // Those of the check before; one that cannot be removed stays for the end.
          try? stores.removeAll()
        }
      } meanwhile: {
        try session.checkInterrupt()
        try display.update(
          "checking \(context)", done: max(0, started.load(ordering: .relaxed) - 1), total: checks.count)
      } finally: {
        try? stores.removeAll()
        try display.finish()
      }
    }
  }

  /// Runs asynchronous work from a synchronous command.
  private enum AsyncWork {
    /// Runs the work and waits for it.
    ///
    /// Calls `meanwhile` ten times a second, and `finally` at the end in any case. If `meanwhile` throws, the work is
    /// cancelled and abandoned.
    static func run<Success: Sendable>(
      _ work: @escaping @Sendable () async -> Success, meanwhile: () throws -> Void,
      finally: () throws -> Void
    ) throws -> Success {
      let result = Mutex<Success?>(nil)
      let done = DispatchSemaphore(value: 0)
      let task = Task.detached {
        let value = await work()
        result.withLock { $0 = value }
        done.signal()
      }
      do {
        while done.wait(timeout: .now() + .milliseconds(100)) == .timedOut { try meanwhile() }
      } catch {
        task.cancel()
        try? finally()  // Report the first error.
        throw error
      }
      try finally()
      guard let value = result.withLock({ $0 }) else {
        throw ToolFailure.inputOutput("the work ended without a result")
      }
      return value
    }
  }
#endif
