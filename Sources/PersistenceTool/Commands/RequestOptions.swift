#if CommandLineTool
  import ArgumentParser
  import PersistenceDriver
  import PersistenceDriverSupport
  import PersistencePrimitives
  import PersistenceQueryLanguage

  /// The arguments and options of commands that query a model.
  struct RequestOptions: ParsableArguments {
    /// The syntax of conditions, for help texts.
    static let language = """
      Conditions follow SQL: = != < <= > >=, and, or, not, in (…), between … and …, is null, like '…' (% matches any \
      text, _ one character, \\ escapes the next one), and the functions contains(f, 'x'), starts(f, 'x'), ends(f, 'x') \
      and matches(f, 'regular expression'). Enclose text in single quotes, and field names with spaces in double quotes: \
      --where "\\"MPAA Rating\\" = 'PG-13' and budget >= 1e8". has(studio, name = 'A24') asks the record to which a reference \
      leads, and hasany(Credit, movie, role = 'lead') the records that refer to this one; --sort studio.name sorts by a field of the record to \
      which a reference leads. Write dates as '2001-12-31' or '2001-12-31T23:59:59Z', \
      and bytes as x'00ff'. A comparison with null is false; not makes it true.
      """

    @Argument(help: "The store's URL.")
    var url: String

    @Argument(help: "The model's name.")
    var model: String

    // Unconditional, here and below: in `--where "-1 < x"` and `--sort -year` the minus starts a value.
    @Option(name: .customLong("where"), parsing: .unconditional, help: "The condition. Default: all records.")
    var condition: String?

    @Option(parsing: .unconditional, help: "The fields to sort by, separated by commas; - means descending.")
    var sort: String?

    @Option(help: "The maximum number of records.")
    var limit: Int?

    @Option(help: "The number of records to skip.")
    var offset = 0

    func validate() throws {
      if let limit, limit < 0 { throw ValidationError("--limit must be at least 0") }
      if offset < 0 { throw ValidationError("--offset must be at least 0") }
    }

    /// The query.
    func query(_ schema: ModelSchema, _ relations: StoredRelations) throws -> RelatedQuery {
      var predicate: PredicateNode?
      if let condition {
        do {
          predicate = try WhereParser.predicate(condition, for: schema, relations: relations)
        } catch let error as WhereError {
          throw ToolFailure.usage("--where: " + error.explanation(of: condition))
        }
      }
      let order = try RelatedNames.order(
        sort.map { try Self.fields($0, "--sort") } ?? [], of: schema, relations)
      for criterion in order where criterion.related == nil {
        try Self.requireField(criterion.order.field, schema)
      }
      return RelatedQuery(schema, where: predicate, order: order, limit: limit, offset: offset)
    }

    /// Parses the names in an option's list.
    static func fields(_ text: String, _ option: String) throws -> [(name: String, isDescending: Bool)] {
      do {
        return try FieldNames.list(text)
      } catch let error as FieldListError {
        throw ToolFailure.usage("\(option): \(error.message)")
      }
    }

    /// The position of a field; fails if the model lacks it.
    @discardableResult
    static func requireField(_ name: String, _ schema: ModelSchema) throws -> Int {
      guard let position = schema.position(of: name) else {
        throw ToolFailure.usage(TerminalText.safe(FieldNames.unknown(name, in: schema)))
      }
      return position
    }
  }
#endif
