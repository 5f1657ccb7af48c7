import ArgumentParser
import Foundation
import PersistenceConformance
import PersistenceDriver
import Synchronization

/// Runs the contract's checks against a context.
struct ConformCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "conform", abstract: "Run the contract's checks against a context.",
    discussion: """
      The stores are new ones, in a temporary folder or, where the URL has a path, in the folder of that name, \
      which must not exist yet or be empty; they are removed afterwards. Exit code 1 where a rule is broken, or \
      where no check was run.
      """)

  @Argument(help: "The context's URL, such as sqlite: or lmdb:?sync=nosync.")
  var url: String?

  @Option(help: "How it is printed: table or json.")
  var format: ResultFormat = .table

  @Option(help: "Only the checks of this rule, such as V6; may stand several times.")
  var rule: [String] = []

  @Flag(help: "Many more kills, rounds and seeds.")
  var thorough = false

  @Option(help: "The seed of checks of chance.")
  var seed: UInt64?

  @Flag(help: "Print the contract's rules and the checks of each, and run none.")
  var list = false

  @Option(help: "How progress is shown: auto, plain, json or none.")
  var progress: ProgressDisplay.Style = .auto

  func run(in session: ToolSession) throws -> ToolFailure.Exit {
    let checks = try chosen()
    if list {
      try session.output.line(
        format == .json ? EncodedText.json(RuleTable(checks)) : RuleTable(checks).markdown)
      return .success
    }
    guard let url else { throw ToolFailure.usage("which context? conform URL, or conform --list") }
    let context = try ContextsUnderTest(session).context(
      url, effort: thorough ? .thorough : .quick, seed: seed)
    let report = try run(checks, on: context, session)
    switch format {
    case .table: try ConformancePrinter(session.output).print(report)
    case .json: try session.output.line(EncodedText.json(report))
    }
    if report.count(where: \.isHeld) + report.count(where: \.isBroken) == 0 {
      try session.say("no check was run: the context is excused from all of them")
    }
    return report.isConforming ? .success : .differences
  }

  private func chosen() throws -> [ConformanceCheck] {
    guard !rule.isEmpty else { return ConformanceCheck.all }
    let rules = try rule.map { text in
      guard let rule = ContractRule.allCases.first(where: { $0.rawValue.lowercased() == text.lowercased() })
      else {
        let known = ContractRule.allCases.map(\.rawValue).joined(separator: ", ")
        throw ToolFailure.usage("the contract has no rule “\(text)”; its rules are \(known)")
      }
      return rule
    }
    return ConformanceCheck.all.filter { !Set(rules).isDisjoint(with: $0.rules) }
  }

  private func run(_ checks: [ConformanceCheck], on context: ContextUnderTest, _ session: ToolSession) throws
    -> ConformanceReport
  {
    let display = ProgressDisplay(session, style: progress)
    let begun = Atomic(0)
    return try Waiting.run {
      await ConformanceSuite(checks: checks).run(on: context) { _ in begun.add(1, ordering: .relaxed) }
    } meanwhile: {
      try session.checkInterrupt()
      try display.update(
        "checking \(context)", done: max(0, begun.load(ordering: .relaxed) - 1), total: checks.count)
    } finally: {
      try display.finish()
    }
  }
}
