import ArgumentParser
import PersistenceDriver

/// Prints the rows of a model that fit a condition.
struct QueryCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "query", abstract: "Print the records of a model that fit a condition, in an order.",
    discussion: """
      The condition is written as in SQL: = != < <= > >=, and, or, not, in (…), between … and …, is null, \
      like '…' (% is any run, _ one character, \\ takes the next one literally), and contains(f, 'x'), \
      starts(f, 'x'), ends(f, 'x'), matches(f, 'regular expression'). Texts stand in single quotes, field \
      names bare or in double quotes: --where "\\"MPAA Rating\\" = 'PG-13' and budget >= 1e8". Dates are written \
      '2001-12-31' or '2001-12-31T23:59:59Z', bytes x'00ff'. A comparison with a field that is null is false, \
      and not makes it true.
      """)

  @Argument(help: "The store's URL.")
  var url: String

  @Argument(help: "The model's name.")
  var model: String

  @Option(name: .customLong("where"), help: "Which records; all of them without it.")
  var condition: String?

  @Option(help: ArgumentHelp("Fields to sort by, with commas; - before one means descending."))
  var sort: String?

  @Option(help: "How many records at most.")
  var limit: Int?

  @Option(help: "How many records are passed over.")
  var offset = 0

  @Option(help: ArgumentHelp("The fields to print, with commas; all of them without it."))
  var fields: String?

  @Option(help: "How it is printed: table, json or csv.")
  var format: RowFormat = .table

  @Flag(help: "Say on standard error how the engine answers the query.")
  var plan = false

  @OptionGroup var common: CommonOptions

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit cannot be negative") }
    if offset < 0 { throw ValidationError("--offset cannot be negative") }
  }

  func run(in session: ToolSession) throws -> ToolFailure.Exit {
    let stores = ToolStores(session, isVerbose: common.verbose)
    return try stores.with(stores.openForReading(url)) { store in
      let snapshot = try store.snapshot()
      let schema = try snapshot.schema(of: model, in: store.location)
      let positions = try printedFields(schema)
      let request = try self.request(schema)
      if plan { try session.say("plan: \(TerminalText.safe("\(try snapshot.plan(for: request))"))") }
      let printer = try RowPrinter(format, schema, positions, session)
      try snapshot.fetch(request).forEach(session) { try printer.add($0) }
      try printer.finish()
      try session.output.flush()
      if format == .table { try session.say("\(printer.count) record\(printer.count == 1 ? "" : "s")") }
      return .success
    }
  }

  private func request(_ schema: ModelSchema) throws -> FetchRequest {
    var predicate: PredicateNode?
    if let condition {
      do {
        predicate = try WhereParser.predicate(condition, for: schema)
      } catch let error as WhereError {
        throw ToolFailure.usage("--where, " + error.explanation(of: condition))
      }
    }
    let order = try sort.map { try FieldNames.list($0, "--sort") }?.map { part in
      try requireField(part.name, schema)
      return FieldOrder(part.name, isDescending: part.isDescending)
    }
    return try FetchRequest(schema, where: predicate, order: order ?? [], limit: limit, offset: offset)
  }

  private func printedFields(_ schema: ModelSchema) throws -> [Int] {
    guard let fields else { return Array(schema.fields.indices) }
    return try FieldNames.list(fields, "--fields").map { part in
      try requireField((part.isDescending ? "-" : "") + part.name, schema)
    }
  }

  @discardableResult
  private func requireField(_ name: String, _ schema: ModelSchema) throws -> Int {
    guard let position = schema.position(of: name) else {
      throw ToolFailure.usage(TerminalText.safe(FieldNames.unknown(name, in: schema)))
    }
    return position
  }
}
