#if CommandLineTool
  import ArgumentParser
  import PersistenceDriver
  import PersistenceDriverSupport

  /// The commands about the schema of a store and its evolution.
  struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "schema",
      abstract: "Show, compare and change the schema of a store; restore or erase what was removed.",
      discussion: """
        FILE is a schema that SchemaHistory has recorded, for example Schemas/current.json or \
        Schemas/released/1.4.0.json. No command destroys values, except compact with --erase.
        """,
      subcommands: [
        SchemaShowCommand.self, SchemaDiffCommand.self, SchemaCheckCommand.self, SchemaApplyCommand.self,
        SchemaRestoreCommand.self, SchemaCompactCommand.self,
      ])
  }

  /// Shows what a store contains, and what it remembers.
  struct SchemaShowCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract: "Show the models of a store, their former names and fills, and what was removed.")

    @Argument(help: "The store's URL.")
    var url: String

    @Option(help: "How to print the result: table or json.")
    var format: ResultFormat = .table

    @OptionGroup var common: CommonOptions

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let stores = ToolStores(session, isVerbose: common.verbose)
      return try stores.with(stores.openForReading(url, surveying: true, allowsIncomplete: true)) { store in
        let snapshot = try store.snapshot()
        let shown = Shown(
          location: store.location, schema: try SchemaDocument(snapshot),
          removed: try RemovedData.all(in: snapshot),
          unbuiltIndexes: try snapshot.unbuiltIndexes().flatMap { schema, indexes in
            indexes.map { UnbuiltIndex(model: schema.name, index: $0) }
          })
        try session.print(shown, as: format) { try printTable(shown, $0) }
        return .success
      }
    }

    private struct Shown: Encodable {
      var location: String
      var schema: SchemaDocument
      var removed: [RemovedData]
      var unbuiltIndexes: [UnbuiltIndex]

      func isUnbuilt(_ index: IndexSchema, of model: String) -> Bool {
        unbuiltIndexes.contains { [$0.model].containsName(model) && $0.index == index }
      }
    }

    private struct UnbuiltIndex: Encodable {
      var model: String
      var index: IndexSchema
    }

    private func printTable(_ shown: Shown, _ output: ByteOutput) throws {
      try output.line("store    \(TerminalText.safe(shown.location))")
      try output.line("models   \(shown.schema.models.count)")
      for model in shown.schema.models {
        try output.line()
        let past = model.formerNames.isEmpty ? "" : ", formerly \(model.formerNames.joined(separator: ", "))"
        try output.line(TerminalText.safe(model.name + past))
        var table = TextTable(
          [.init(title: "field"), .init(title: "kind"), .init(title: "")], output: output)
        for field in model.fields {
          let words = [
            model.key.containsName(field.schema.name) ? "key" : "", String(field.words.dropFirst(2)),
          ]
          try table.add([
            field.schema.name, field.schema.kind.rawValue + (field.schema.isOptional ? "?" : ""),
            words.filter { !$0.isEmpty }.joined(separator: ", "),
          ])
        }
        try table.finish()
        if model.key.count > 1 {
          try output.line("key (\(TerminalText.safe(model.key.joined(separator: ", "))))")
        }
        for index in model.indexes {
          let note = shown.isUnbuilt(index, of: model.name) ? ", not built: finishIndexes() builds it" : ""
          try output.line(TerminalText.safe("index \(index)\(note)"))
        }
        for data in shown.removed where data.field != nil && [data.model].containsName(model.name) {
          try output.line(TerminalText.safe("removed \(data.summary)"))
        }
      }
      let models = shown.removed.filter { $0.field == nil }
      if !models.isEmpty { try output.line() }
      for data in models { try output.line(TerminalText.safe("removed model \(data.summary)")) }
    }
  }

  /// Compares two schemas.
  struct SchemaDiffCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "diff", abstract: "Compare the schemas of two stores or files.",
      discussion: """
        Each line starts with - (only in A), + (only in B) or * (different). A former name identifies a model or a field, \
        so that a rename is one difference. Two fills count if both schemas have one. The exit code is 1 if the schemas \
        differ.
        """)

    @Argument(help: "The URL of store A, or a file.")
    var a: String

    @Argument(help: "The URL of store B, or a file.")
    var b: String

    @Option(help: "How to print the result: table or json.")
    var format: ResultFormat = .table

    @OptionGroup var common: CommonOptions

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let stores = ToolStores(session, isVerbose: common.verbose)
      let old = try SchemaSource.read(a, stores)
      let differences = try SchemaSource.read(b, stores).differences(from: old)
      try session.print(differences, as: format) { output in
        for difference in differences {
          try output.line("\(difference.sign.rawValue) \(TerminalText.safe(difference.text))")
        }
        if differences.isEmpty { try output.line("the schemas are equal") }
      }
      return differences.isEmpty ? .success : .differences
    }
  }
#endif
