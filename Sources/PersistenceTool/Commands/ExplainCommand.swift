#if CommandLineTool
  import ArgumentParser
  import PersistenceDriver
  import PersistenceDriverSupport

  /// Prints the plan of a query without running it.
  struct ExplainCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "explain",
      abstract: "Explain how the engine would answer a query: index, order and residual filter.",
      discussion: """
        The arguments are those of the command query, but nothing is fetched. The JSON form of the plan is the value of \
        Query.explain().

        """ + RequestOptions.language)

    @OptionGroup var options: RequestOptions

    @Option(help: "How to print the result: words or json.")
    var format: PlanFormat = .words

    @OptionGroup var common: CommonOptions

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let stores = ToolStores(session, isVerbose: common.verbose)
      return try stores.with(stores.openForReading(options.url)) { store in
        let snapshot = try store.snapshot().hidingRemovedFields()
        let schema = try snapshot.schema(of: options.model, in: store.location)
        let plan = try options.query(schema, StoredRelations(snapshot)).plan(by: snapshot)
        switch format {
        case .words: try session.output.line(TerminalText.safe("\(plan)"))
        case .json: try session.output.line(JSONReport.text(plan))
        }
        return .success
      }
    }
  }

  /// How to print a plan.
  enum PlanFormat: String, ExpressibleByArgument, CaseIterable {
    case words, json
  }
#endif
