import ArgumentParser
import PersistenceDriver
import PersistenceQueryLanguage

/// Which records of a model, and in which order: what the commands that ask share.
struct RequestOptions: ParsableArguments {
  /// How conditions are written.
  static let language = """
    The condition is written as in SQL: = != < <= > >=, and, or, not, in (…), between … and …, is null, \
    like '…' (% is any run, _ one character, \\ takes the next one literally), and contains(f, 'x'), \
    starts(f, 'x'), ends(f, 'x'), matches(f, 'regular expression'). Texts stand in single quotes, field \
    names bare or in double quotes: --where "\\"MPAA Rating\\" = 'PG-13' and budget >= 1e8". Dates are written \
    '2001-12-31' or '2001-12-31T23:59:59Z', bytes x'00ff'. A comparison with a field that is null is false, \
    and not makes it true.
    """

  @Argument(help: "The store's URL.")
  var url: String

  @Argument(help: "The model's name.")
  var model: String

  // Unconditional, here and below: `--where "-1 < x"` is a condition and `--sort -year` an order, not other options.
  @Option(
    name: .customLong("where"), parsing: .unconditional, help: "Which records; all of them without it.")
  var condition: String?

  @Option(parsing: .unconditional, help: "Fields to sort by, with commas; - before one means descending.")
  var sort: String?

  @Option(help: "How many records at most.")
  var limit: Int?

  @Option(help: "How many records are passed over.")
  var offset = 0

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit cannot be negative") }
    if offset < 0 { throw ValidationError("--offset cannot be negative") }
  }

  /// The request that the options make of a model.
  func request(_ schema: ModelSchema) throws -> FetchRequest {
    var predicate: PredicateNode?
    if let condition {
      do {
        predicate = try WhereParser.predicate(condition, for: schema)
      } catch let error as WhereError {
        throw ToolFailure.usage("--where, " + error.explanation(of: condition))
      }
    }
    let order = try sort.map { try Self.fields($0, "--sort") }?.map { part in
      try Self.requireField(part.name, schema)
      return FieldOrder(part.name, isDescending: part.isDescending)
    }
    return try FetchRequest(schema, where: predicate, order: order ?? [], limit: limit, offset: offset)
  }

  /// The names of a list that an option has.
  static func fields(_ text: String, _ option: String) throws -> [(name: String, isDescending: Bool)] {
    do {
      return try FieldNames.list(text)
    } catch let error as FieldListError {
      throw ToolFailure.usage("\(option): \(error.message)")
    }
  }

  /// The position of a field that the user named.
  @discardableResult
  static func requireField(_ name: String, _ schema: ModelSchema) throws -> Int {
    guard let position = schema.position(of: name) else {
      throw ToolFailure.usage(TerminalText.safe(FieldNames.unknown(name, in: schema)))
    }
    return position
  }
}
