package import PersistenceDriver
package import PersistenceDriverSupport

/// Parses a condition of `--where`, in the syntax of SQL, for one model.
///
/// ```
/// condition  = conjunction { "or" conjunction }
/// conjunction = negation { "and" negation }
/// negation   = "not" negation | "(" condition ")" | test
/// test       = field ( operator ( value | field ) | [ "not" ] "in" "(" [ value { "," value } ] ")"
///            | [ "not" ] "between" value "and" value | [ "not" ] "like" text | "is" [ "not" ] "null" )
///            | value operator field | function "(" field "," text ")" | field | "true" | "false"
///            | "has" "(" reference [ "," condition ] ")" | "hasany" "(" model "," reference [ "," condition ] ")"
/// operator   = "=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">="
/// function   = "contains" | "starts" | "ends" | "matches"
/// value      = number | text | "true" | "false" | bytes
/// ```
///
/// A value takes the kind of the field that it is compared with. Logic is two-valued (contract V6): a comparison with
/// null is false, and `not` makes it true.
package struct WhereParser {
  static let depthLimit = 100

  private static let operators: [String: ComparisonOperator] = [
    "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual,
    ">": .greater, ">=": .greaterOrEqual,
  ]
  private static let functions: [String: TextOperator] = [
    "contains": .contains, "starts": .hasPrefix, "ends": .hasSuffix, "matches": .matches,
  ]
  private static let sides: [String: RelatedCondition.Side] = ["has": .target, "hasany": .referrers]
  private static let reserved: Set<String> = [
    "and", "or", "not", "in", "between", "like", "is", "null", "true", "false",
  ]

  /// The model whose fields a condition names; another one within `has` and `hasany`.
  private(set) var schema: ModelSchema
  private let relations: StoredRelations?
  private let tokens: [WhereToken]
  private var index = 0
  private var depth = 0
  private var patterns = PatternBudget()

  /// Parses a condition that names fields of a model.
  ///
  /// - Throws: ``WhereError``.
  package static func predicate(
    _ text: String, for schema: ModelSchema, relations: StoredRelations? = nil
  ) throws -> PredicateNode {
    var parser = WhereParser(schema: schema, relations: relations, tokens: try WhereLexer.tokens(of: text))
    let node = try parser.condition()
    guard parser.current.kind == .end else {
      throw parser.error("the condition must end here or continue with and, or")
    }
    return node
  }

  private var current: WhereToken { tokens[index] }

  private func error(_ message: String, at token: WhereToken? = nil) -> WhereError {
    WhereError(message: message, position: (token ?? current).position)
  }

  private mutating func take() -> WhereToken {
    let token = tokens[index]
    if token.kind != .end { index += 1 }
    return token
  }

  private mutating func takeKeyword(_ keyword: String) -> Bool {
    guard current.isKeyword(keyword) else { return false }
    index += 1
    return true
  }

  private mutating func takeSymbol(_ symbol: String) -> Bool {
    guard current.isSymbol(symbol) else { return false }
    index += 1
    return true
  }

  private mutating func expectSymbol(_ symbol: String, _ reason: String) throws {
    guard takeSymbol(symbol) else { throw error("“\(symbol)” is missing \(reason)") }
  }

  private mutating func condition() throws -> PredicateNode {
    var alternatives = [try conjunction()]
    while takeKeyword("or") { alternatives.append(try conjunction()) }
    return alternatives.count == 1 ? alternatives[0] : .any(alternatives)
  }

  private mutating func conjunction() throws -> PredicateNode {
    var parts = [try negation()]
    while takeKeyword("and") { parts.append(try negation()) }
    return parts.count == 1 ? parts[0] : .all(parts)
  }

  private mutating func negation() throws -> PredicateNode {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.depthLimit else {
      throw error("the condition is nested deeper than \(Self.depthLimit) levels")
    }
    if takeKeyword("not") { return .not(try negation()) }
    if takeSymbol("(") {
      let node = try condition()
      try expectSymbol(")", "to close a parenthesis")
      return node
    }
    return try test()
  }

  private mutating func test() throws -> PredicateNode {
    let start = current
    if case .word(let word) = start.kind, tokens[index + 1].isSymbol("("),
      !Self.reserved.contains(word.lowercased())
    {
      return try function(word)
    }
    if let value = try literalIfAny() {
      guard let comparison = takeOperator() else {
        if case .truth(let truth) = value.kind { return .constant(truth) }
        throw error("a comparison such as = or < is missing after the value")
      }
      let field = try self.field()
      return try FieldCondition(field: field).comparison(comparison.mirrored, value)
    }
    return try test(of: try field())
  }

  private mutating func function(_ word: String) throws -> PredicateNode {
    let token = take()
    if let side = Self.sides[word.lowercased()] {
      index += 1
      return try related(side, word, at: token)
    }
    guard let search = Self.functions[word.lowercased()] else {
      throw error(
        "unknown function “\(word)”; the functions are contains, starts, ends, matches, has, hasany",
        at: token)
    }
    index += 1
    let field = try self.field()
    try expectSymbol(",", "between the field and the text")
    let needle = current
    guard case .text(let text) = take().kind else {
      throw error("a text in single quotes is missing", at: needle)
    }
    try expectSymbol(")", "to close \(word)(")
    return try FieldCondition(field: field).search(search, text, at: needle.position, &patterns)
  }

  /// The rest of a condition on related records.
  private mutating func related(_ side: RelatedCondition.Side, _ word: String, at token: WhereToken) throws
    -> PredicateNode
  {
    guard let relations else { throw error("\(word) is not supported here", at: token) }
    let own = schema
    defer { schema = own }
    let other: ModelSchema
    var field: WhereField
    switch side {
    case .target:
      field = try self.field()
      guard let target = try relations.target(of: field.schema.name, in: own.name) else {
        throw WhereError(
          message: "“\(field.schema.name)” of \(own.name) is not a reference", position: field.position)
      }
      other = target
    case .referrers:
      let name = current
      guard let model = try relations.model(named: try identifier()) else {
        throw error("the store does not contain this model", at: name)
      }
      try expectSymbol(",", "between the model and its reference")
      schema = model
      field = try self.field()
      let target = try relations.target(of: field.schema.name, in: model.name)
      guard target?.name == own.name else {
        throw WhereError(
          message: "“\(field.schema.name)” of \(model.name) is not a reference to \(own.name)",
          position: field.position)
      }
      other = model
    }
    schema = other
    depth += 1
    defer { depth -= 1 }
    let condition = takeSymbol(",") ? try self.condition() : .constant(true)
    try expectSymbol(")", "to close \(word)(")
    return .related(RelatedCondition(side, field: field.schema.name, model: other.name, condition))
  }

  private mutating func identifier() throws -> String {
    switch current.kind {
    case .name(let text), .word(let text):
      index += 1
      return text
    default: throw error("a name is missing here")
    }
  }

  private mutating func test(of field: WhereField) throws -> PredicateNode {
    let condition = FieldCondition(field: field)
    if let comparison = takeOperator() {
      if let value = try literalIfAny() { return try condition.comparison(comparison, value) }
      if current.isKeyword("null") {
        throw error("a comparison with null never matches; write is null or is not null")
      }
      return try condition.comparison(comparison, with: try self.field())
    }
    let isNegated = takeKeyword("not")
    if takeKeyword("in") { return Self.negated(isNegated, try membership(field)) }
    if takeKeyword("between") {
      let lower = try literal()
      guard takeKeyword("and") else { throw error("“and” is missing between the two bounds") }
      return Self.negated(isNegated, try condition.between(lower, try literal()))
    }
    if takeKeyword("like") {
      let pattern = current
      guard case .text(let text) = take().kind else {
        throw error("a pattern in single quotes is missing", at: pattern)
      }
      return Self.negated(isNegated, try condition.search(.like, text, at: pattern.position, &patterns))
    }
    guard !isNegated else { throw error("in, between or like is missing after not") }
    if takeKeyword("is") {
      let isNot = takeKeyword("not")
      guard takeKeyword("null") else { throw error("null is missing after is") }
      return .comparison(field: field.schema.name, isNot ? .notEqual : .equal, .null)
    }
    guard field.schema.kind == .bool else {
      throw error("a comparison such as =, <, in, between, like or is null is missing after the field")
    }
    return .comparison(field: field.schema.name, .equal, .bool(true))
  }

  private mutating func membership(_ field: WhereField) throws -> PredicateNode {
    try expectSymbol("(", "after in")
    var values: [WhereLiteral] = []
    if !takeSymbol(")") {
      repeat { values.append(try literal()) } while takeSymbol(",")
      try expectSymbol(")", "to close the list, or a comma before the next value")
    }
    return try FieldCondition(field: field).membership(values)
  }

  private mutating func takeOperator() -> ComparisonOperator? {
    guard case .symbol(let symbol) = current.kind, let comparison = Self.operators[symbol] else { return nil }
    index += 1
    return comparison
  }

  private mutating func literal() throws -> WhereLiteral {
    if let value = try literalIfAny() { return value }
    if current.isKeyword("null") { throw error("null is not a value here; write is null or is not null") }
    throw error("a value is missing: a number, a text in single quotes, true, false or x'…'")
  }

  private mutating func literalIfAny() throws -> WhereLiteral? {
    let token = current
    let kind: WhereLiteral.Kind
    switch token.kind {
    case .number(let text): kind = .number(text)
    case .text(let text): kind = .text(text)
    case .bytes(let bytes): kind = .bytes(bytes)
    case .word(let word) where word.lowercased() == "true": kind = .truth(true)
    case .word(let word) where word.lowercased() == "false": kind = .truth(false)
    default: return nil
    }
    index += 1
    return WhereLiteral(kind: kind, position: token.position)
  }

  private mutating func field() throws -> WhereField {
    let token = current
    let name: String
    switch token.kind {
    case .name(let text): name = text
    case .word(let word):
      guard !Self.reserved.contains(word.lowercased()) else {
        throw error("a field or a value is missing before “\(word)”; enclose a field of that name in \"…\"")
      }
      name = word
    case .end: throw error("the condition is incomplete: a field or a value is missing")
    default: throw error("a field is missing here")
    }
    guard let field = schema.field(named: name) else {
      throw error(FieldNames.unknown(name, in: schema), at: token)
    }
    index += 1
    return WhereField(schema: field, position: token.position)
  }

  private static func negated(_ isNegated: Bool, _ node: PredicateNode) -> PredicateNode {
    isNegated ? .not(node) : node
  }
}
