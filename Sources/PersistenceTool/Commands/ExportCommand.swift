#if CommandLineTool
  import ArgumentParser
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport

  /// Writes the records of a model to a file without loss.
  struct ExportCommand: ToolCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
      case ndjson, csv
    }

    static let configuration = CommandConfiguration(
      commandName: "export", abstract: "Write the records of a model as NDJSON or CSV, without loss.",
      discussion: """
        The command also writes FILE.schema.json with the kinds, keys and indexes, which neither format can express. \
        Import reads it and restores the exported records exactly. The command refuses an existing FILE or \
        FILE.schema.json before it reads anything, unless --force is given.
        """)

    @Argument(help: "The store's URL.")
    var url: String

    @Argument(help: "The model's name.")
    var model: String

    @Argument(help: "The file. Default: standard output.")
    var file: String?

    @Option(help: "The format: ndjson or csv. Default: by the file's extension.")
    var format: Format?

    @Option(
      help: ArgumentHelp("Write the schema to this file. Default: FILE.schema.json.", valueName: "file"))
    var schema: String?

    @Flag(help: "Write no schema; with --force, remove an existing FILE.schema.json.")
    var noSchema = false

    @Flag(help: "Replace FILE and its schema if they exist.")
    var force = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
      if noSchema, schema != nil { throw ValidationError("--schema and --no-schema exclude each other") }
      if file != nil { _ = try chosenFormat() }
    }

    private func chosenFormat() throws -> Format {
      if let format { return format }
      guard let file else { return .ndjson }
      switch URL(fileURLWithPath: file).pathExtension.lowercased() {
      case "csv": return .csv
      case "ndjson", "jsonl", "json": return .ndjson
      default: throw ValidationError("the format of \(file) is unknown; use --format ndjson or csv")
      }
    }

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let stores = ToolStores(session, isVerbose: common.verbose)
      try checkPaths(stores)
      let format = try chosenFormat()
      return try stores.with(stores.openForCopying(url, models: [model])) { store in
        let snapshot = try store.snapshot().hidingRemovedFields()
        let schema = try snapshot.schema(of: model, in: store.location)
        let results = try snapshot.fetch(try FetchRequest(schema))
        let schemaTarget = try schemaFile.map {
          try SchemaFile.begin(schema, at: $0, replacesExisting: force)
        }
        guard let file else {
          try write(results, schema, format, session.output, session)
          try schemaTarget?.commit {}
          return .success
        }
        let target = try FileReplacement(file, replacesExisting: force)
        let output = ByteOutput { try target.write($0) }
        // Remove an old schema before the new file appears, so that import never combines the two.
        let count = try target.commit(removing: SchemaFile.path(for: file)) {
          let count = try write(results, schema, format, output, session)
          try output.flush()
          return count
        }
        try schemaTarget?.commit {}
        try session.say("\(count) record\(count == 1 ? "" : "s") written to \(file)")
        return .success
      }
    }

    private func checkPaths(_ stores: ToolStores) throws {
      var paths = PathConflicts(stores)
      try paths.addStore(url, as: "the store")
      let beside = file.map(SchemaFile.path)
      if let file { try paths.addOutput(file, as: "the file", replacesExisting: force) }
      if let beside { try paths.addOutput(beside, as: "the file's schema", replacesExisting: force) }
      // --schema may name the default file.
      guard let schema, beside.map({ FileLocation($0).path }) != FileLocation(schema).path else { return }
      try paths.addOutput(schema, as: "--schema", replacesExisting: force)
    }

    /// The path of the schema file; nil for none.
    private var schemaFile: String? { noSchema ? nil : schema ?? file.map(SchemaFile.path) }

    @discardableResult
    private func write(
      _ results: any StorageResults, _ schema: ModelSchema, _ format: Format, _ output: ByteOutput,
      _ session: ToolSession
    ) throws -> Int {
      let progress = ProgressDisplay(session, style: session.output.isTerminal && file == nil ? .none : .auto)
      var count = 0
      if format == .csv { try output.write(DelimitedText.line(schema.fields.map(\.name))) }
      try results.forEach(session) { row in
        switch format {
        case .ndjson: try output.write(RecordText.json(row, schema.fields) + "\n")
        case .csv: try output.write(RecordText.delimited(row, schema.fields))
        }
        count += 1
        if count.isMultiple(of: 1000) {
          try progress.update("exporting \(schema.name)", done: count, total: nil)
        }
      }
      try progress.finish()
      return count
    }
  }
#endif
