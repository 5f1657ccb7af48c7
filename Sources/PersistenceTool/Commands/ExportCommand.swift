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
      indexes. Import reads it, so that what was exported comes back as it was.
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

  @Flag(help: "Write no schema.")
  var noSchema = false

  @Flag(help: "Replace a file that exists.")
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
    let format = try chosenFormat()
    return try stores.with(MigrationSource(stores).open(url, models: [model])) { store in
      let snapshot = try store.snapshot()
      let schema = try snapshot.schema(of: model, in: store.location)
      let results = try snapshot.fetch(try FetchRequest(schema))
      guard let file else {
        try write(results, schema, format, session.output, session)
        try writeSchema(schema, to: self.schema)
        return .success
      }
      let target = try FileReplacement(file, replacesExisting: force)
      let output = ByteOutput { try target.write($0) }
      let count = try target.finishing {
        let count = try write(results, schema, format, output, session)
        try output.flush()
        return count
      }
      try writeSchema(schema, to: self.schema ?? (noSchema ? nil : SchemaFile.path(beside: file)))
      try session.say("\(count) record\(count == 1 ? "" : "s") written to \(file)")
      return .success
    }
  }

  private func writeSchema(_ schema: ModelSchema, to path: String?) throws {
    guard let path, !noSchema else { return }
    try SchemaFile.write(schema, to: path)
  }

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
