import ArgumentParser
import Foundation
import PersistenceDriver

/// Stores the records of a file.
struct ImportCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Store the records of a JSON array, NDJSON or CSV file.",
    discussion: """
      What each field is, is found out from all records first: a number, a truth value, a UUID, a date, text or \
      a document; optional where any record has none. A value of another kind is converted where nothing is \
      lost; otherwise its record is rejected, with its place in the file, and the others are kept. Beside a \
      FILE that export wrote, FILE.schema.json is used instead; so is the schema of a model that the store \
      already holds.
      """)

  @Argument(help: "The file.")
  var file: String

  @Argument(help: "The store's URL; it is made where there is none.")
  var url: String

  // Unconditional, here and below: names may begin with a minus.
  @Option(parsing: .unconditional, help: "What the records are called.")
  var model: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "The field that identifies a record (given again for a key of several), or generate: 1, 2, 3 and so on.",
      valueName: "field"))
  var key: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "What a field is, whatever it looks like, such as \"Release Date=string\" or count=int32?.",
      valueName: "field=kind"))
  var kind: [String] = []

  @Option(parsing: .unconditionalSingleValue, help: ArgumentHelp("A field to index.", valueName: "field"))
  var index: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("A field to index, in which no value may stand twice.", valueName: "field"))
  var unique: [String] = []

  @Option(help: "What the file is: json, ndjson, csv or tsv; by its extension without it.")
  var fileFormat: ImportFormat?

  @Option(help: ArgumentHelp("A schema as export writes it.", valueName: "file"))
  var schema: String?

  @Flag(help: "Find out what the fields are even where a schema file stands beside the file.")
  var infer = false

  @Option(help: "How many records are stored in one transaction.")
  var batch = 10_000

  @Option(help: ArgumentHelp("Where all rejected records are listed, as NDJSON.", valueName: "file"))
  var rejects: String?

  @Option(help: "How the result is printed: table or json.")
  var format: ResultFormat = .table

  @OptionGroup var common: CommonOptions

  func validate() throws {
    if batch < 1 { throw ValidationError("--batch must be at least 1") }
    if infer, schema != nil { throw ValidationError("--schema and --infer exclude each other") }
    if key.count > 1, key.contains(ImportPlan.generate) {
      throw ValidationError("--key generate stands alone")
    }
    _ = try wishes()
  }

  private func wishes() throws -> ImportPlan.Wishes {
    var kinds: [StoredName: FieldSchema] = [:]
    for text in kind {
      guard let mark = text.lastIndex(of: "=") else {
        throw ValidationError("--kind \(text) is not of the form field=kind")
      }
      let name = String(text[..<mark])
      var word = text[text.index(after: mark)...]
      let isOptional = word.last == "?"
      if isOptional { word.removeLast() }
      guard let kind = FieldKind(rawValue: String(word)) else {
        let known = FieldKind.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("--kind \(text): there is no kind “\(word)”; there are \(known)")
      }
      kinds[StoredName(name)] = FieldSchema(name, kind, isOptional: isOptional)
    }
    return ImportPlan.Wishes(model: model, key: key, kinds: kinds, indexes: index, uniqueIndexes: unique)
  }

  func run(in session: ToolSession) throws -> ToolFailure.Exit {
    let stores = ToolStores(session, isVerbose: common.verbose)
    try checkPlaces(stores)
    let source = try ImportFile.open(file, as: fileFormat)
    let plan = try givenPlan() ?? knownPlan(stores) ?? ImportPlan.inferring(from: source, wishes(), session)
    return try stores.with(stores.openForWriting(url)) { store in
      try store.requireComplete()
      if let stored = try store.schema(named: plan.schema.name) {
        try plan.schema.requireCompatible(with: stored, location: store.location)
      }
      let list = try rejects.map { try FileReplacement($0, replacesExisting: true) }
      let importer = Importer(plan, from: source, batchSize: batch, session: session) { rejected in
        guard let list else { return }
        try list.write(EncodedText.line(rejected) + "\n")
      }
      do {
        try importer.run(into: store)
        try list?.finishing {}
      } catch {
        try? list?.finishing {}  // What was rejected until then is worth having; why it stopped matters more.
        try session.say("\(importer.report.imported) records had been stored when it stopped")
        throw error
      }
      try ImportPrinter(importer.report, session).print(format)
      return importer.report.rejected == 0 ? .success : .rejects
    }
  }

  private func checkPlaces(_ stores: ToolStores) throws {
    var places = PathConflicts(stores)
    try places.addInput(file, as: "the file that is read")
    if let schemaFile { try places.addInput(schemaFile, as: "the schema that is read") }
    try places.addStore(url, as: "the store", isWritten: true)
    if let rejects { try places.addOutput(rejects, as: "--rejects") }
  }

  /// The schema file that was named, or stands beside the file.
  private var schemaFile: String? {
    if let schema { return schema }
    let path = SchemaFile.path(beside: file)
    return !infer && FileManager.default.fileExists(atPath: path) ? path : nil
  }

  /// The plan by a schema file.
  private func givenPlan() throws -> ImportPlan? {
    try schemaFile.map { try ImportPlan.given(SchemaFile.read($0), from: $0, wishes()) }
  }

  /// The plan by the store's own catalog, where the store is there and holds the model.
  private func knownPlan(_ stores: ToolStores) throws -> ImportPlan? {
    let path = try stores.check(url).path
    guard !infer, let model, !path.isEmpty, FileManager.default.fileExists(atPath: path) else { return nil }
    let known: any StorageContext
    do {
      known = try stores.openForReading(url)
    } catch let error as PersistenceError where error.code == .missingStore || error.code == .notAStore {
      // An empty file or folder may become a store; where it may not, opening for writing says so.
      return nil
    }
    return try stores.with(known) { store in
      guard let schema = try store.schema(named: model) else { return nil }
      return try ImportPlan.given(schema, from: store.location, wishes())
    }
  }
}
