#if CommandLineTool
  import ArgumentParser
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistenceQueryLanguage

  /// Prints the records of a model that match a condition.
  struct QueryCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "query", abstract: "Print the records of a model that match a condition.",
      discussion: RequestOptions.language)

    @OptionGroup var options: RequestOptions

    @Option(
      parsing: .unconditional, help: ArgumentHelp("The fields to print, separated by commas. Default: all."))
    var fields: String?

    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "References whose records to print too, as studio,studio.owner; their fields follow as studio.name."))
    var include: String?

    @Option(help: "How to print the result: table, json or csv.")
    var format: RowFormat = .table

    @Flag(help: "Print the query plan to standard error.")
    var plan = false

    @OptionGroup var common: CommonOptions

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let stores = ToolStores(session, isVerbose: common.verbose)
      return try stores.with(stores.openForReading(options.url)) { store in
        let snapshot = try store.snapshot().hidingRemovedFields()
        let schema = try snapshot.schema(of: options.model, in: store.location)
        let selected = try selectedFields(schema)
        let relations = StoredRelations(snapshot)
        let query = try options.query(schema, relations)
        if plan {
          let plan = try query.plan(by: snapshot, selecting: selected)
          try session.say("plan: \(TerminalText.safe("\(plan)"))")
        }
        let joined = try JoinedRows(inclusions(schema, relations), selected, of: schema, snapshot)
        let printer = try RowPrinter(format, joined.fields, session)
        let rows = try query.answered(by: snapshot).fetch(selecting: joined.selection)
        try joined.forEach(rows, session) { try printer.add($0) }
        try printer.finish()
        try session.output.flush()
        if format == .table { try session.say("\(printer.count) record\(printer.count == 1 ? "" : "s")") }
        return .success
      }
    }

    /// The positions of the fields to read and print; nil for all.
    private func selectedFields(_ schema: ModelSchema) throws -> [Int]? {
      try fields.map { try positions($0, schema) }
    }

    private func inclusions(_ schema: ModelSchema, _ relations: StoredRelations) throws -> [RelatedInclusion]
    {
      do {
        return try include.map { try RelatedNames.inclusions($0, of: schema, relations) } ?? []
      } catch let error as FieldListError {
        throw ToolFailure.usage("--include: \(error.message)")
      }
    }

    private func positions(_ fields: String, _ schema: ModelSchema) throws -> [Int] {
      try RequestOptions.fields(fields, "--fields").map { part in
        try RequestOptions.requireField((part.isDescending ? "-" : "") + part.name, schema)
      }
    }
  }
#endif
