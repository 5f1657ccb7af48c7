package import PersistenceDriver
import PersistenceDriverSupport

/// A condition in the form that SQL text is made of: words without values, and the values beside them.
///
/// The words alone decide the text, so two requests of equal words share one prepared statement.
package struct LoweredPredicate: Sendable {
  /// The condition's words; a single ``PredicateOpcode/Operation/yes`` where there is none.
  package private(set) var words: [PredicateOpcode] = []

  /// What is bound, in the order in which the words ask for it.
  package private(set) var bindings: [SQLBinding] = []

  /// The deepest nesting of parentheses that is written; SQLite's parser, for one, has a stack of 100 entries.
  static let nestingLimit = 12

  /// How many words are written at most; the evaluator takes longer conditions.
  static let lengthLimit = 4_000

  /// How many fields the evaluating function takes at most.
  static let fieldLimit = 100

  private let schema: ModelSchema

  /// Lowers a condition.
  ///
  /// - Parameters:
  ///   - predicate: A condition as a request holds it; nil for none.
  ///   - schema: The schema whose positions the words name.
  /// - Throws: ``PersistenceError`` with code ``PersistenceError/Code/invalidRequest`` where it is too deep or
  ///   too long for SQL and reads too many fields for the evaluator.
  package init(_ predicate: PredicateNode?, in schema: ModelSchema) throws {
    self.schema = schema
    guard let predicate else {
      words = [PredicateOpcode(.yes)]
      return
    }
    try lower(predicate, isNegated: false, depth: 0)
    guard words.count > Self.lengthLimit else { return }
    words.removeAll()
    bindings.removeAll()
    try evaluate(predicate, isNegated: false)
  }

  /// A condition of words and values that are known already, all of which are to hold.
  package init(all words: [PredicateOpcode], bindings: [SQLBinding], in schema: ModelSchema) {
    self.schema = schema
    self.words = words.count == 1 ? words : [PredicateOpcode(.all, count: words.count)] + words
    self.bindings = bindings
  }

  /// Whether the condition is true for every row.
  package var isAlwaysTrue: Bool { words.count == 1 && words[0].operation == .yes }

  private mutating func lower(_ node: PredicateNode, isNegated: Bool, depth: Int) throws {
    switch node {
    case .constant(let truth): append(truth != isNegated)
    case .comparison(let field, let comparison, let value):
      lower(try position(field), comparison, value, isNegated)
    case .fieldComparison(let left, let comparison, let right):
      words.append(
        PredicateOpcode(
          Self.fieldOperation(isNegated ? comparison.complement : comparison), try position(left),
          try position(right), orNull: isNegated && comparison.isOrdering))
    case .isIn(let field, let values):
      guard !values.isEmpty else { return append(isNegated) }
      words.append(PredicateOpcode(isNegated ? .isNotIn : .isIn, try position(field)))
      bindings.append(.list(values))
    case .isBetween(let field, let lower, let upper):
      guard !lower.isNull, !upper.isNull else { return append(isNegated) }
      words.append(PredicateOpcode(isNegated ? .isNotBetween : .isBetween, try position(field)))
      bindings.append(.value(lower))
      bindings.append(.value(upper))
    case .text(let field, let search, let needle, let isCaseInsensitive):
      if search == .hasPrefix, !isCaseInsensitive, !needle.isEmpty {
        return try lower(Self.range(of: needle, in: field), isNegated: isNegated, depth: depth)
      }
      words.append(PredicateOpcode(isNegated ? .isNotFound : .isFound, try position(field)))
      bindings.append(.search(try TextMatcher(search, needle, isCaseInsensitive: isCaseInsensitive)))
    case .all(let nodes): try lower(nodes, node, isAll: !isNegated, isNegated, depth)
    case .any(let nodes): try lower(nodes, node, isAll: isNegated, isNegated, depth)
    case .not(let node): try lower(node, isNegated: !isNegated, depth: depth)
    }
  }

  private mutating func append(_ truth: Bool) { words.append(PredicateOpcode(truth ? .yes : .no)) }

  private func position(_ field: String) throws -> Int {
    guard let position = schema.position(of: field) else {
      throw PersistenceError.unknownField(field, in: schema)
    }
    return position
  }

  private mutating func lower(
    _ field: Int, _ comparison: ComparisonOperator, _ value: PersistentValue, _ isNegated: Bool
  ) {
    let comparison = isNegated ? comparison.complement : comparison
    switch (comparison, value.isNull) {
    case (.equal, true): words.append(PredicateOpcode(.isNull, field))
    case (.notEqual, true): words.append(PredicateOpcode(.isNotNull, field))
    // Every ordering with nil is false, and its negation true.
    case (_, true): append(isNegated)
    case (_, false):
      words.append(
        PredicateOpcode(
          Self.operation(comparison), field, orNull: isNegated && comparison.isOrdering))
      bindings.append(.value(value))
    }
  }

  /// Texts with a prefix are a range: from the prefix to the prefix whose last scalar is one greater.
  private static func range(of prefix: String, in field: String) -> PredicateNode {
    let lower = PredicateNode.comparison(field: field, .greaterOrEqual, .text(prefix))
    guard let end = prefix.endOfPrefixRange else { return lower }
    return .all([lower, .comparison(field: field, .less, .text(end))])
  }

  private static func operation(_ comparison: ComparisonOperator) -> PredicateOpcode.Operation {
    switch comparison {
    case .equal: .equal
    case .notEqual: .differs
    case .less: .less
    case .lessOrEqual: .lessOrEqual
    case .greater: .greater
    case .greaterOrEqual: .greaterOrEqual
    }
  }

  private static func fieldOperation(_ comparison: ComparisonOperator) -> PredicateOpcode.Operation {
    switch comparison {
    case .equal: .fieldEqual
    case .notEqual: .fieldDiffers
    case .less: .fieldLess
    case .lessOrEqual: .fieldLessOrEqual
    case .greater: .fieldGreater
    case .greaterOrEqual: .fieldGreaterOrEqual
    }
  }
}

extension LoweredPredicate {
  /// Lowers a group, written flat where groups of one kind are nested, and without the constants that decide
  /// nothing or everything.
  private mutating func lower(
    _ nodes: [PredicateNode], _ group: PredicateNode, isAll: Bool, _ isNegated: Bool, _ depth: Int
  ) throws {
    guard depth < Self.nestingLimit else { return try evaluate(group, isNegated: isNegated) }
    let (start, firstBinding) = (words.count, bindings.count)
    words.append(PredicateOpcode(.all, count: 0))
    var count = 0
    guard try append(nodes, isAll: isAll, isNegated, depth, &count) else {
      words.removeSubrange(start...)
      bindings.removeSubrange(firstBinding...)
      return append(!isAll)
    }
    switch count {
    case 0: words[start] = PredicateOpcode(isAll ? .yes : .no)
    case 1: words.remove(at: start)
    default: words[start] = PredicateOpcode(isAll ? .all : .any, count: count)
    }
  }

  /// Appends the members of a group; false where one of them decides it.
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
      let start = words.count
      try lower(node, isNegated: isNegated, depth: depth + 1)
      let only = words.count == start + 1 ? words[start].operation : .field
      if only == .yes || only == .no {
        guard (only == .yes) == isAll else { return false }
        words.removeLast()
      } else {
        count += 1
      }
    }
    return true
  }

  /// Leaves a condition to the evaluator.
  private mutating func evaluate(_ node: PredicateNode, isNegated: Bool) throws {
    let positions = try node.fields.map { try position($0) }
    guard positions.count <= Self.fieldLimit else {
      throw PersistenceError.invalidRequest(
        "the condition on \(schema.name) is too long or too deep to be evaluated by the database: it reads "
          + "\(positions.count) fields, where \(Self.fieldLimit) can be given to the evaluator; split it")
    }
    let condition = try CompiledPredicate(isNegated ? .not(node) : node, in: schema)
    words.append(PredicateOpcode(.evaluated, count: positions.count))
    words.append(contentsOf: positions.map { PredicateOpcode(.field, $0) })
    bindings.append(.condition(condition, positions: positions))
  }
}

extension ComparisonOperator {
  /// The comparison that holds exactly where this one does not, nil apart.
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
  /// The least text that is greater than every text with this prefix; nil where there is none.
  var endOfPrefixRange: String? {
    var scalars = Array(unicodeScalars)
    while let last = scalars.popLast() {
      guard last.value < 0x10FFFF else { continue }
      // The surrogates are no scalars: what follows U+D7FF is U+E000.
      guard let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) else { continue }
      var text = String.UnicodeScalarView(scalars)
      text.append(next)
      return String(text)
    }
    return nil
  }
}
