package import PersistenceDriver
import PersistenceDriverSupport

/// A condition lowered to opcodes, apart from the values that its parameters are bound to.
///
/// The opcodes alone determine the SQL text, so conditions that differ only in values share a prepared statement.
package struct LoweredPredicate: Sendable {
  /// The opcodes in prefix notation; a single ``PredicateOpcode/Operation/always`` where there is no condition.
  package let opcodes: [PredicateOpcode]

  /// The values of the parameters, in the order of the opcodes.
  package let bindings: [SQLBinding]

  /// The deepest nesting of parentheses in the text: SQLite's parser has a stack of 100 entries.
  static let nestingLimit = 12

  /// How many opcodes the text may have; the evaluator takes longer conditions.
  static let lengthLimit = 4_000

  /// How many fields the SQL function that calls the evaluator may take.
  static let fieldLimit = 100

  /// Lowers a condition; throws if it is too deep or too long for SQL, and reads too many fields for the evaluator.
  package init(_ predicate: PredicateNode?, in schema: ModelSchema, _ dialect: some SQLDialect) throws {
    guard let predicate else {
      (opcodes, bindings) = (Self.always, [])
      return
    }
    var lowering = PredicateLowering(schema, dialect)
    try lowering.append(predicate)
    opcodes = lowering.opcodes
    bindings = lowering.bindings
  }

  /// The opcodes of a request without a condition.
  private static let always = [PredicateOpcode(.always)]

  /// The conjunction of conditions that are already lowered.
  init(all opcodes: [PredicateOpcode], bindings: [SQLBinding]) {
    self.opcodes = opcodes.count == 1 ? opcodes : [PredicateOpcode(.all, count: opcodes.count)] + opcodes
    self.bindings = bindings
  }

  /// Whether a part of the condition calls the evaluator.
  package var callsEvaluator: Bool { opcodes.contains { $0.operation == .evaluated } }

  /// Whether the condition is true for every row.
  package var isAlwaysTrue: Bool { opcodes.count == 1 && opcodes[0].operation == .always }
}

/// Lowers conditions on one model for one database, and collects the opcodes and bindings.
struct PredicateLowering<Dialect: SQLDialect> {
  private(set) var opcodes: [PredicateOpcode] = []
  private(set) var bindings: [SQLBinding] = []
  private let schema: ModelSchema
  private let dialect: Dialect

  init(_ schema: ModelSchema, _ dialect: Dialect) {
    self.schema = schema
    self.dialect = dialect
    // Room for the conditions of a small query: otherwise the arrays grow from one element.
    opcodes.reserveCapacity(8)
    bindings.reserveCapacity(4)
  }

  /// Appends a whole condition; as a call of the evaluator if its text would be too long.
  mutating func append(_ predicate: PredicateNode) throws {
    try lower(predicate, isNegated: false, depth: 0)
    guard opcodes.count > LoweredPredicate.lengthLimit else { return }
    opcodes.removeAll()
    bindings.removeAll()
    try evaluate(predicate, isNegated: false)
  }

  private mutating func lower(_ node: PredicateNode, isNegated: Bool, depth: Int) throws {
    switch node {
    case .constant(let truth): append(truth != isNegated)
    case .comparison(let field, let comparison, let value):
      lower(try position(field), comparison, value, isNegated)
    case .fieldComparison(let left, let comparison, let right):
      opcodes.append(
        PredicateOpcode(
          Self.fieldOperation(isNegated ? comparison.complement : comparison), try position(left),
          try position(right), orNull: isNegated && comparison.isOrdering))
    case .isIn(let field, let values):
      guard !values.isEmpty else { return append(isNegated) }
      let isAscending = schema.key == [field] && Self.isAscending(values)
      opcodes.append(
        PredicateOpcode(isNegated ? .isNotIn : .isIn, try position(field), isAscending ? 1 : 0))
      bindings.append(.list(values))
    case .isBetween(let field, let lower, let upper):
      guard !lower.isNull, !upper.isNull else { return append(isNegated) }
      opcodes.append(PredicateOpcode(isNegated ? .isNotBetween : .isBetween, try position(field)))
      bindings.append(.value(lower))
      bindings.append(.value(upper))
    case .text(let field, let search, let needle, let isCaseInsensitive):
      if search == .hasPrefix, !isCaseInsensitive, !needle.isEmpty {
        return try lower(Self.range(of: needle, in: field), isNegated: isNegated, depth: depth)
      }
      switch try dialect.lower(search, needle, isCaseInsensitive: isCaseInsensitive) {
      case .function(let matcher)?:
        opcodes.append(PredicateOpcode(isNegated ? .textDoesNotMatch : .textMatches, try position(field)))
        bindings.append(.search(matcher))
      case .pattern(let pattern, let isCaseInsensitive)?:
        opcodes.append(
          PredicateOpcode(
            isCaseInsensitive ? .isLikeInAnyCase : .isLike, try position(field), isNegated ? 1 : 0))
        bindings.append(.value(.text(pattern)))
      case nil: try evaluate(node, isNegated: isNegated)
      }
    case .document: try evaluate(node, isNegated: isNegated)
    case .related: throw PersistenceError.relationInRequest
    case .all(let nodes): try lower(nodes, node, isAll: !isNegated, isNegated, depth)
    case .any(let nodes): try lower(nodes, node, isAll: isNegated, isNegated, depth)
    case .not(let node): try lower(node, isNegated: !isNegated, depth: depth)
    }
  }

  /// Whether each value is greater than the one before.
  private static func isAscending(_ values: [PersistentValue]) -> Bool {
    for (left, right) in zip(values, values.dropFirst()) {
      if case (.integer(let left), .integer(let right)) = (left, right) {
        guard left < right else { return false }
      } else {
        guard left < right else { return false }
      }
    }
    return true
  }

  private mutating func append(_ truth: Bool) { opcodes.append(PredicateOpcode(truth ? .always : .never)) }

  private func position(_ field: String) throws -> Int { try schema.requiredPosition(of: field) }

  private mutating func lower(
    _ field: Int, _ comparison: ComparisonOperator, _ value: PersistentValue, _ isNegated: Bool
  ) {
    let comparison = isNegated ? comparison.complement : comparison
    switch (comparison, value.isNull) {
    case (.equal, true): opcodes.append(PredicateOpcode(.isNull, field))
    case (.notEqual, true): opcodes.append(PredicateOpcode(.isNotNull, field))
    // A comparison of order with nil is false, and its negation true.
    case (_, true): append(isNegated)
    case (_, false):
      opcodes.append(
        PredicateOpcode(Self.operation(comparison), field, orNull: isNegated && comparison.isOrdering))
      bindings.append(.value(value))
    }
  }

  /// The texts with a prefix as a range: from the prefix up to the same text with its last scalar incremented.
  private static func range(of prefix: String, in field: String) -> PredicateNode {
    let lower = PredicateNode.comparison(field: field, .greaterOrEqual, .text(prefix))
    guard let end = prefix.endOfPrefixRange else { return lower }
    return .all([lower, .comparison(field: field, .less, .text(end))])
  }

  private static func operation(_ comparison: ComparisonOperator) -> PredicateOpcode.Operation {
    switch comparison {
    case .equal: .equal
    case .notEqual: .notEqual
    case .less: .less
    case .lessOrEqual: .lessOrEqual
    case .greater: .greater
    case .greaterOrEqual: .greaterOrEqual
    }
  }

  private static func fieldOperation(_ comparison: ComparisonOperator) -> PredicateOpcode.Operation {
    switch comparison {
    case .equal: .fieldEqual
    case .notEqual: .fieldNotEqual
    case .less: .fieldLess
    case .lessOrEqual: .fieldLessOrEqual
    case .greater: .fieldGreater
    case .greaterOrEqual: .fieldGreaterOrEqual
    }
  }
}

extension PredicateLowering {
  /// Lowers a conjunction or disjunction: flattens nested groups of the same kind and folds constants.
  private mutating func lower(
    _ nodes: [PredicateNode], _ group: PredicateNode, isAll: Bool, _ isNegated: Bool, _ depth: Int
  ) throws {
    guard depth < LoweredPredicate.nestingLimit else { return try evaluate(group, isNegated: isNegated) }
    let (start, firstBinding) = (opcodes.count, bindings.count)
    opcodes.append(PredicateOpcode(.all, count: 0))
    var count = 0
    guard try append(nodes, isAll: isAll, isNegated, depth, &count) else {
      opcodes.removeSubrange(start...)
      bindings.removeSubrange(firstBinding...)
      return append(!isAll)
    }
    switch count {
    case 0: opcodes[start] = PredicateOpcode(isAll ? .always : .never)
    case 1: opcodes.remove(at: start)
    default: opcodes[start] = PredicateOpcode(isAll ? .all : .any, count: count)
    }
  }

  /// Appends the members of a group; false where a constant member decides the whole group.
  private mutating func append(
    _ nodes: [PredicateNode], isAll: Bool, _ isNegated: Bool, _ depth: Int, _ count: inout Int
  ) throws -> Bool {
    for node in nodes {
      var (node, isNegated) = (node, isNegated)
      while case .not(let inner) = node { (node, isNegated) = (inner, !isNegated) }
      switch node {
      case .all(let inner) where isAll != isNegated, .any(let inner) where isAll == isNegated:
        guard try append(inner, isAll: isAll, isNegated, depth, &count) else { return false }
        continue
      default: break
      }
      let start = opcodes.count
      try lower(node, isNegated: isNegated, depth: depth + 1)
      let only = opcodes.count == start + 1 ? opcodes[start].operation : .field
      if only == .always || only == .never {
        guard (only == .always) == isAll else { return false }
        opcodes.removeLast()
      } else {
        count += 1
      }
    }
    return true
  }

  /// Lowers a condition to a call of the evaluator.
  private mutating func evaluate(_ node: PredicateNode, isNegated: Bool) throws {
    let positions = try node.fields.map { try position($0) }
    guard positions.count <= LoweredPredicate.fieldLimit else {
      throw PersistenceError.invalidRequest(
        "the condition on \(schema.name) is too long or too deep for the database, and reads \(positions.count) "
          + "fields, more than the \(LoweredPredicate.fieldLimit) that the evaluator accepts; split it")
    }
    let condition = try CompiledPredicate(isNegated ? .not(node) : node, in: schema)
    opcodes.append(PredicateOpcode(.evaluated, count: positions.count))
    opcodes.append(contentsOf: positions.map { PredicateOpcode(.field, $0) })
    bindings.append(.condition(condition, positions: positions))
  }
}

extension ComparisonOperator {
  /// The comparison that is true exactly where this one is false; neither is true for nil.
  var complement: ComparisonOperator {
    switch self {
    case .equal: .notEqual
    case .notEqual: .equal
    case .less: .greaterOrEqual
    case .lessOrEqual: .greater
    case .greater: .lessOrEqual
    case .greaterOrEqual: .less
    }
  }
}

extension String {
  /// The least text that is greater than every text with this prefix; nil where no such text exists.
  var endOfPrefixRange: String? {
    var scalars = Array(unicodeScalars)
    while let last = scalars.popLast() {
      guard last.value < 0x10FFFF else { continue }
      // Surrogates are not scalars: U+E000 follows U+D7FF.
      guard let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) else { continue }
      var text = String.UnicodeScalarView(scalars)
      text.append(next)
      return String(text)
    }
    return nil
  }
}
