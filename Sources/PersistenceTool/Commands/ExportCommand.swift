import ArgumentParser
import Foundation
import PersistenceDriver

/// Writes the records of a model to a file, exactly.
struct ExportCommand: ToolCommand {
  /// What the file is.
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case ndjson, csv
  }

  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write the records of a model as NDJSON or CSV, exactly.",
    discussion: """
      Beside FILE stands FILE.schema.json afterwards, which says what neither format can: kinds, keys and \
      indexes. Import reads it, so that what was exported comes back as it was. A file that exists is refused, \
      before anything is read; so is a FILE.schema.json that would be taken for FILE's.
      """)

  @Argument(help: "The store's URL.")
  var url: String

  @Argument(help: "The model's name.")
  var model: String

  @Argument(help: "The file; standard output without it.")
  var file: String?

  @Option(help: "What the file is: ndjson or csv; by the file's extension without it.")
  var format: Format?

  @Option(help: ArgumentHelp("Where the schema is written; FILE.schema.json without it.", valueName: "file"))
  var schema: String?

  @Flag(help: "Write no schema; with --force, one that stands beside FILE is removed.")
  var noSchema = false

  @Flag(help: "Replace files that exist: FILE and its schema.")
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
    default: throw ValidationError("say what \(file) is to be: --format ndjson or csv")
    }
  }

  func run(in session: ToolSession) throws -> ToolFailure.Exit {
    let stores = ToolStores(session, isVerbose: common.verbose)
    try checkPlaces(stores)
    let format = try chosenFormat()
    return try stores.with(MigrationSource(stores).open(url, models: [model])) { store in
      let snapshot = try store.snapshot()
      let schema = try snapshot.schema(of: model, in: store.location)
      let results = try snapshot.fetch(try FetchRequest(schema))
      let described = try schemaFile.map {
        try SchemaFile.begin(schema, at: $0, replacesExisting: force)
      }
      guard let file else {
        try write(results, schema, format, session.output, session)
        try described?.finishing {}
        return .success
      }
      let target = try FileReplacement(file, replacesExisting: force)
      let output = ByteOutput { try target.write($0) }
      // At no moment does a schema stand beside the file that is another file's: import would obey it.
      let count = try target.finishing(removing: SchemaFile.path(beside: file)) {
        let count = try write(results, schema, format, output, session)
        try output.flush()
        return count
      }
      try described?.finishing {}
      try session.say("\(count) record\(count == 1 ? "" : "s") written to \(file)")
      return .success
    }
  }

  private func checkPlaces(_ stores: ToolStores) throws {
    var places = PathConflicts(stores)
    try places.addStore(url, as: "the store")
    let beside = file.map(SchemaFile.path)
    if let file { try places.addOutput(file, as: "the file", replacesExisting: force) }
    if let beside { try places.addOutput(beside, as: "the file's schema", replacesExisting: force) }
    // A schema that is named may be the one beside the file.
    guard let schema, beside.map({ FileLocation($0).path }) != FileLocation(schema).path else { return }
    try places.addOutput(schema, as: "--schema", replacesExisting: force)
  }

  /// Where the schema is written; nil where none is.
  private var schemaFile: String? { noSchema ? nil : schema ?? file.map(SchemaFile.path) }

  @discardableResult
  private func write(
    _ results: any StorageResults, _ schema: ModelSchema, _ format: Format, _ output: ByteOutput,
    _ session: ToolSession
  ) throws -> Int {
    let positions = Array(schema.fields.indices)
    let progress = ProgressDisplay(session, style: session.output.isTerminal && file == nil ? .none : .auto)
    var count = 0
    if format == .csv { try output.write(DelimitedText.line(schema.fields.map(\.name))) }
    try results.forEach(session) { row in
      switch format {
      case .ndjson: try output.write(RecordText.json(row, schema, positions) + "\n")
      case .csv: try output.write(RecordText.delimited(row, schema, positions))
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
