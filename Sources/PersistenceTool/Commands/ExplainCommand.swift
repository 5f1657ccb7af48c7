import ArgumentParser
import PersistenceDriver

/// Says how a store answers a query, without answering it.
struct ExplainCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Say how the engine would answer a query: which index, what order.",
    discussion: """
      The query is written as for the command query, and nothing is fetched. As JSON, the plan is the value that \
      programs get from Query.explain().

      """ + RequestOptions.language)

  @OptionGroup var options: RequestOptions

  @Option(help: "How it is printed: words or json.")
  var format: PlanFormat = .words

  @OptionGroup var common: CommonOptions

  func run(in session: ToolSession) throws -> ToolFailure.Exit {
    let stores = ToolStores(session, isVerbose: common.verbose)
    return try stores.with(stores.openForReading(options.url)) { store in
      let snapshot = try store.snapshot()
      let schema = try snapshot.schema(of: options.model, in: store.location)
      let plan = try snapshot.plan(for: options.request(schema))
      switch format {
      case .words: try session.output.line(TerminalText.safe("\(plan)"))
      case .json: try session.output.line(EncodedText.json(plan))
      }
      return .success
    }
  }
}

/// How a plan is printed.
enum PlanFormat: String, ExpressibleByArgument, CaseIterable {
  case words, json
}
