#if CommandLineTool
  import ArgumentParser
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport

  /// Imports the records of a file.
  struct ImportCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "import", abstract: "Import the records of a JSON array, NDJSON or CSV file.",
      discussion: """
        The command first reads all records and infers the kind of each field: number, Boolean, UUID, date, text or \
        document. A field is optional if any record lacks it. A value of another kind is converted if that loses \
        nothing. Otherwise the record is rejected with its position in the file, and the import continues. If \
        FILE.schema.json exists, as after an export, or the store already has the model, their schema is used instead.
        """)

    @Argument(help: "The file.")
    var file: String

    @Argument(help: "The URL of the store; it is created if it does not exist.")
    var url: String

    // Unconditional, here and below: names may start with a minus.
    @Option(parsing: .unconditional, help: "The name of the model.")
    var model: String?

    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp(
        "The primary key field (repeat the option for a composite key), or generate for 1, 2, 3 and so on.",
        valueName: "field"))
    var key: [String] = []

    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp(
        "The kind of a field instead of the inferred one, for example \"Release Date=string\" or count=int32?.",
        valueName: "field=kind"))
    var kind: [String] = []

    @Option(parsing: .unconditionalSingleValue, help: ArgumentHelp("A field to index.", valueName: "field"))
    var index: [String] = []

    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp("A field to index with unique values.", valueName: "field"))
    var unique: [String] = []

    @Option(help: "The format of the file: json, ndjson, csv or tsv. Default: by its extension.")
    var fileFormat: ImportFormat?

    @Option(help: ArgumentHelp("A schema file in the format of export.", valueName: "file"))
    var schema: String?

    @Flag(help: "Infer the kinds even if a schema exists.")
    var infer = false

    @Option(help: "The maximum number of records per transaction.")
    var batch = 10_000

    @Option(
      help: ArgumentHelp(
        "Write all rejected records to this file, as NDJSON; an earlier list is replaced.", valueName: "file")
    )
    var rejects: String?

    @Option(help: "How to print the result: table or json.")
    var format: ResultFormat = .table

    @OptionGroup var common: CommonOptions

    func validate() throws {
      if batch < 1 { throw ValidationError("--batch must be at least 1") }
      if infer, schema != nil { throw ValidationError("--schema and --infer exclude each other") }
      if key.count > 1, key.contains(ImportPlan.generate) {
        throw ValidationError("--key generate excludes other keys")
      }
      _ = try overrides()
    }

    private func overrides() throws -> ImportPlan.Overrides {
      var kinds: [StoredName: FieldSchema] = [:]
      for text in kind {
        guard let mark = text.lastIndex(of: "=") else {
          throw ValidationError("--kind \(text) does not have the form field=kind")
        }
        let name = String(text[..<mark])
        var word = text[text.index(after: mark)...]
        let isOptional = word.last == "?"
        if isOptional { word.removeLast() }
        guard let kind = FieldKind(rawValue: String(word)) else {
          let known = FieldKind.allCases.map(\.rawValue).joined(separator: ", ")
          throw ValidationError("--kind \(text): “\(word)” is not a kind; the kinds are \(known)")
        }
        kinds[StoredName(name)] = FieldSchema(name, kind, isOptional: isOptional)
      }
      return ImportPlan.Overrides(model: model, key: key, kinds: kinds, indexes: index, uniqueIndexes: unique)
    }

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let stores = ToolStores(session, isVerbose: common.verbose)
      try checkPaths(stores)
      let source = try ImportFile.open(file, as: fileFormat)
      let plan =
        try planFromFile() ?? planFromCatalog(stores)
        ?? ImportPlan.inferring(from: source, overrides(), session)
      return try stores.with(stores.openForWriting(url)) { opened in
        try opened.requireComplete()
        let store = try opened.hidingRemovedFields()
        if let stored = try store.schema(named: plan.schema.name) {
          try plan.schema.requireCompatible(with: stored, location: store.location)
        }
        let list = try rejects.map { try FileReplacement($0, replacesExisting: true) }
        let importer = Importer(plan, from: source, batchSize: batch, session: session) { rejected in
          try list?.write(JSONReport.line(rejected) + "\n")
        }
        do {
          try importer.run(into: store)
          try list?.commit {}
        } catch {
          try? list?.commit {}  // Keep the rejects so far, but report the first error.
          try session.say("\(importer.report.imported) records were stored before the import stopped")
          throw error
        }
        try ImportPrinter(report: importer.report, session: session).print(format)
        return importer.report.rejected == 0 ? .success : .rejects
      }
    }

    private func checkPaths(_ stores: ToolStores) throws {
      var paths = PathConflicts(stores)
      try paths.addInput(file, as: "the imported file")
      if let schemaFile { try paths.addInput(schemaFile, as: "the schema file") }
      try paths.addStore(url, as: "the store", isWritten: true)
      if let rejects { try paths.addOutput(rejects, as: "--rejects", replacing: .rejects) }
    }

    /// The schema file that the user named, or that exists beside the file.
    private var schemaFile: String? {
      if let schema { return schema }
      let path = SchemaFile.path(for: file)
      return !infer && FileManager.default.fileExists(atPath: path) ? path : nil
    }

    private func planFromFile() throws -> ImportPlan? {
      try schemaFile.map { try ImportPlan.existing(SchemaFile.read($0), from: $0, overrides()) }
    }

    /// The plan from the store's catalog, if the store exists and has the model.
    private func planFromCatalog(_ stores: ToolStores) throws -> ImportPlan? {
      let location = try stores.check(url)
      guard !infer, let model,
        !stores.hasFiles(location) || FileManager.default.fileExists(atPath: location.path)
      else { return nil }
      let known: any StorageContext
      do {
        known = try stores.openForReading(url)
      } catch let error as PersistenceError where error.code == .missingStore || error.code == .notAStore {
        // An empty file, folder or database may become a store; opening for writing decides.
        return nil
      }
      return try stores.with(known) { store in
        guard let schema = try store.hidingRemovedFields().schema(named: model) else { return nil }
        return try ImportPlan.existing(schema, from: store.location, overrides())
      }
    }
  }
#endif
