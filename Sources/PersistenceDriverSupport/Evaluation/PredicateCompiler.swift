import PersistenceDriver

/// Creates the tests of a condition from last to first, so that each can refer to its successors.
struct PredicateCompiler {
  typealias Test = PredicateProgram.Test
  typealias Outcomes = PredicateProgram.Outcomes

  let schema: ModelSchema
  private(set) var tests: [Test] = []
  private(set) var lists: [[PredicateProgram.Constant]] = []
  private(set) var searches: [TextMatcher] = []
  private(set) var documents: [DocumentMatcher] = []
  private(set) var constants: [PredicateProgram.Constant] = []

  init(schema: ModelSchema) { self.schema = schema }

  /// Adds the tests of a condition, which continues with one of two tests or ends.
  ///
  /// Returns the number of its first test, or of its successor if it needs none.
  mutating func add(_ node: PredicateNode, _ whenTrue: Int32, _ whenFalse: Int32) throws -> Int32 {
    switch node {
    case .constant(let truth): return truth ? whenTrue : whenFalse
    case .not(let node): return try add(node, whenFalse, whenTrue)
    case .related: throw PersistenceError.relationInRequest
    case .all(let nodes): return try nodes.reversed().reduce(whenTrue) { try add($1, $0, whenFalse) }
    case .any(let nodes): return try nodes.reversed().reduce(whenFalse) { try add($1, whenTrue, $0) }
    case .comparison(let field, let comparison, let value):
      var test = Test(kind: .cell, position: try position(field), whenTrue: whenTrue, whenFalse: whenFalse)
      test.constant = constant(value)
      test.kind = Self.kind(of: test.constant)
      test.outcomes = Self.outcomes(of: comparison, withNull: value.isNull)
      return add(test)
    case .fieldComparison(let left, let comparison, let right):
      var test = Test(kind: .fields, position: try position(left), whenTrue: whenTrue, whenFalse: whenFalse)
      test.other = try position(right)
      test.outcomes = Self.outcomes(of: comparison, withNull: false)
      return add(test)
    case .isIn(let field, let values):
      // Sorted for binary search.
      let list = values.filter { !$0.isNull }.sorted().map(PredicateProgram.Constant.init)
      var test = Test(kind: .isIn, position: try position(field), whenTrue: whenTrue, whenFalse: whenFalse)
      test.other = Int32(lists.count)
      lists.append(list)
      return add(test)
    case .isBetween(let field, let lower, let upper):
      var test = Test(
        kind: .isBetween, position: try position(field), whenTrue: whenTrue, whenFalse: whenFalse)
      guard !lower.isNull, !upper.isNull else { return whenFalse }
      (test.constant, test.upper) = (constant(lower), constant(upper))
      return add(test)
    case .text(let field, let search, let needle, let isCaseInsensitive):
      var test = Test(kind: .text, position: try position(field), whenTrue: whenTrue, whenFalse: whenFalse)
      test.other = Int32(searches.count)
      searches.append(try TextMatcher(search, needle, isCaseInsensitive: isCaseInsensitive))
      return add(test)
    case .document(let field, let path, let condition):
      var test = Test(
        kind: .document, position: try position(field), whenTrue: whenTrue, whenFalse: whenFalse)
      test.other = Int32(documents.count)
      documents.append(try DocumentMatcher(path: path, condition))
      return add(test)
    }
  }

  private mutating func add(_ test: Test) -> Int32 {
    tests.append(test)
    return Int32(tests.count - 1)
  }

  private mutating func constant(_ value: PersistentValue) -> RowCell {
    let constant = PredicateProgram.Constant(value)
    constants.append(constant)
    return constant.cell
  }

  private func position(_ field: String) throws -> Int32 { Int32(try schema.requiredPosition(of: field)) }

  private static func kind(of constant: RowCell) -> Test.Kind {
    switch constant.tag {
    case .integer, .bool: .integer
    case .double, .date: .double
    case .text, .bytes, .document: .bytes
    case .null, .uuid, .decimal: .cell
    }
  }

  private static func outcomes(of comparison: ComparisonOperator, withNull isNull: Bool) -> Outcomes {
    var outcomes: Outcomes = []
    if isNull {
      // A value has no order relative to nil, so all orders have the same outcome.
      let differs = comparison.holds(leftIsNull: false, rightIsNull: true, order: 0)
      if differs { outcomes.formUnion([.less, .equal, .greater]) }
      if comparison.holds(leftIsNull: true, rightIsNull: true, order: 0) { outcomes.insert(.isNull) }
      return outcomes
    }
    for (order, outcome) in [(-1, Outcomes.less), (0, .equal), (1, .greater)]
    where comparison.holds(leftIsNull: false, rightIsNull: false, order: order) {
      outcomes.insert(outcome)
    }
    if comparison.holds(leftIsNull: true, rightIsNull: false, order: 0) { outcomes.insert(.isNull) }
    if comparison.holds(leftIsNull: true, rightIsNull: true, order: 0) { outcomes.insert(.areNull) }
    return outcomes
  }
}
