#if CommandLineTool
  import ArgumentParser
  import Foundation
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistencePrimitives

  /// Describes a store.
  struct InspectCommand: ToolCommand {
    static let configuration = CommandConfiguration(
      commandName: "inspect",
      abstract: "Describe a store: models, fields, keys, indexes, layouts, record counts and size.")

    @Argument(help: "The store's URL.")
    var url: String

    @Option(help: "How to print the result: table or json.")
    var format: ResultFormat = .table

    @OptionGroup var common: CommonOptions

    func run(in session: ToolSession) throws -> ToolFailure.Exit {
      let stores = ToolStores(session, isVerbose: common.verbose)
      let location = try stores.check(url)
      let size = !stores.hasFiles(location) ? nil : StoreSize.bytes(atPath: location.path)
      return try stores.with(stores.openForReading(url, surveying: true, allowsIncomplete: true)) { store in
        let snapshot = try store.snapshot().hidingRemovedFields()
        let layouts = store.innermost as? any TableLayoutReporting
        let references = try ReferenceLedger.references(snapshot)
        let models = try snapshot.catalog().filter { !$0.isReserved }.map { schema in
          Summary.Model(
            schema: schema, count: try snapshot.count(try FetchRequest(schema)),
            references: references.filter { StoredName($0.model) == StoredName(schema.name) }.map(
              Summary.Reference.init), layout: try layouts?.rowLayout(of: schema))
        }
        // The tool opens the store read-only; report what the URL specifies.
        var capabilities = store.capabilities
        capabilities.isReadOnly = location.options["readonly"] == "true"
        let summary = Summary(
          location: store.location, size: size, capabilities: capabilities,
          models: models, unmappedObjects: try snapshot.unmappedObjects(),
          isComplete: try Self.isComplete(store))
        try session.print(summary, as: format) { try printTable(summary, $0) }
        return .success
      }
    }

    private static func isComplete(_ store: any StorageContext) throws -> Bool {
      do {
        try store.requireComplete()
        return true
      } catch let error as PersistenceError where error.code == .incompleteStore {
        return false
      }
    }

    private struct Summary: Encodable {
      struct Model: Encodable {
        var schema: ModelSchema
        var count: Int
        var references: [Reference]
        /// How a SQL table keeps the rows; nil on other engines.
        var layout: TableLayout?
      }
      struct Reference: Encodable {
        var field: String
        var target: String
        var onDelete: DeleteRule

        init(_ reference: StoredReference) {
          (field, target, onDelete) = (reference.field, reference.target, reference.rule)
        }
      }
      var location: String
      var size: Int?
      var capabilities: Capabilities
      var models: [Model]
      var unmappedObjects: [UnmappedObject]
      /// Whether the store holds no unfinished migration.
      var isComplete: Bool
    }

    private func printTable(_ summary: Summary, _ output: ByteOutput) throws {
      try output.line("store    \(TerminalText.safe(summary.location))")
      if let size = summary.size { try output.line("size     \(StoreSize.text(size))") }
      try output.line("can      \(Self.capabilityNames(summary.capabilities).joined(separator: ", "))")
      if !summary.isComplete {
        try output.line("state    incomplete: a migration was interrupted; run it again with --resume")
      }
      try output.line("models   \(summary.models.count)")
      for model in summary.models { try printModel(model, output) }
      if !summary.unmappedObjects.isEmpty { try output.line() }
      try UnmappedObjectPrinter(output: output).print(summary.unmappedObjects)
    }

    private func printModel(_ model: Summary.Model, _ output: ByteOutput) throws {
      let (schema, count) = (model.schema, model.count)
      try output.line()
      try output.line("\(TerminalText.safe(schema.name)): \(count) record\(count == 1 ? "" : "s")")
      var table = TextTable([.init(title: "field"), .init(title: "kind"), .init(title: "")], output: output)
      for (position, field) in schema.fields.enumerated() {
        let kind = field.kind.rawValue + (field.isOptional ? "?" : "")
        try table.add([field.name, kind, schema.keyPositions.contains(position) ? "key" : ""])
      }
      try table.finish()
      if schema.key.count > 1 {
        try output.line("key (\(TerminalText.safe(schema.key.joined(separator: ", "))))")
      }
      if let layout = model.layout { try output.line(layout.text) }
      for index in schema.indexes {
        let words = TerminalText.safe(index.fields.joined(separator: ", "))
        try output.line("\(index.isUnique ? "unique " : "")index (\(words))")
      }
      for reference in model.references {
        let ends = TerminalText.safe("\(reference.field) refers to \(reference.target)")
        try output.line("\(ends), on delete \(reference.onDelete.rawValue)")
      }
    }

    private static func capabilityNames(_ capabilities: Capabilities) -> [String] {
      var words = [capabilities.isReadOnly ? "read-only" : "read and write"]
      words.append(capabilities.isDurable ? "durable" : "not durable")
      if capabilities.isMultiProcess { words.append("multiple processes") }
      if capabilities.evaluatesPredicates { words.append("native predicates") }
      if capabilities.hasSecondaryIndexes { words.append("indexes") }
      words.append("dates \(capabilities.datePrecision.rawValue)")
      if let largest = capabilities.largestKey { words.append("keys up to \(largest) bytes") }
      if capabilities.writesInParallel { words.append("parallel writes") }
      if let largest = capabilities.largestValue { words.append("values up to \(StoreSize.text(largest))") }
      return words
    }
  }
#endif
