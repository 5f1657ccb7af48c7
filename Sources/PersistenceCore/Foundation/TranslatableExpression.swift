import Foundation
import PersistenceDriver

/// A node of a Foundation predicate that stores can evaluate.
protocol TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm
}

extension PredicateExpressions.Variable: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    guard let term = translation.variable(key) else { throw translation.unsupported(self) }
    return term
  }
}

extension PredicateExpressions.KeyPath: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    switch try translation.term(root) {
    case .model: return try translation.term(of: keyPath)
    case .field(let field) where (keyPath as AnyKeyPath) == \String.isEmpty:
      return .condition(.comparison(field: field, .equal, .text("")))
    case .field, .part:
      guard let whole = try wholeKeyPath(in: translation) else { throw translation.unsupported(self) }
      return try translation.term(of: whole)
    default: throw translation.unsupported(self)
    }
  }
}

/// A key path of the model, in one step or several.
private protocol ModelKeyPath {
  func wholeKeyPath(in translation: PredicateTranslation) throws -> AnyKeyPath?
}

extension PredicateExpressions.KeyPath: ModelKeyPath {
  func wholeKeyPath(in translation: PredicateTranslation) throws -> AnyKeyPath? {
    if case .model = try translation.term(root) { return keyPath }
    return try (root as? any ModelKeyPath)?.wholeKeyPath(in: translation)?.appending(path: keyPath)
  }
}

extension PredicateExpressions.Value: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    .constant(value)
  }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm { .constant(Bool?.none as Any) }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    .field(try translation.field(inner))
  }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    let other = try translation.term(rhs)
    switch (try translation.term(lhs), other.value) {
    case (.field(let field), let value?): return .coalesced(field, value)
    case (.optionalCondition(let field, let node), .bool(let truth)?):
      let isNil = PredicateNode.comparison(field: field, .equal, .null)
      return .condition(truth ? .any([isNil, node]) : .all([.not(isNil), node]))
    default: throw translation.unsupported(self)
    }
  }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    let field = try translation.field(wrapped)
    let inner = translation.binding(variable.key, to: .field(field))
    return .optionalCondition(field: field, try inner.condition(transform))
  }
}

extension PredicateExpressions.Conditional: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    let condition = try translation.condition(test)
    return .condition(
      .any([
        .all([condition, try translation.condition(trueBranch)]),
        .all([.not(condition), try translation.condition(falseBranch)]),
      ]))
  }
}

extension PredicateExpressions.Conjunction: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    .condition(.conjunction(try translation.condition(lhs), try translation.condition(rhs)))
  }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    .condition(.disjunction(try translation.condition(lhs), try translation.condition(rhs)))
  }
}

extension PredicateExpressions.Negation: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    .condition(.not(try translation.condition(wrapped)))
  }
}

extension PredicateExpressions.Equal: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    .condition(try translation.comparison(lhs, .equal, rhs))
  }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    .condition(try translation.comparison(lhs, .notEqual, rhs))
  }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    let comparison: PersistenceDriver.ComparisonOperator
    switch op {
    case .lessThan: comparison = .less
    case .lessThanOrEqual: comparison = .lessOrEqual
    case .greaterThan: comparison = .greater
    case .greaterThanOrEqual: comparison = .greaterOrEqual
    @unknown default: throw translation.unsupported(self)
    }
    return .condition(try translation.comparison(lhs, comparison, rhs))
  }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    guard case .text(let needle)? = try translation.term(other).value else {
      throw translation.unsupported(self)
    }
    return .condition(try translation.search(base, .contains, needle))
  }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    guard case .text(let needle)? = try translation.term(prefix).value else {
      throw translation.unsupported(self)
    }
    return .condition(try translation.search(base, .hasPrefix, needle))
  }
}

extension PredicateExpressions.SequenceContains: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    switch (try translation.term(sequence), try translation.term(element)) {
    case (.field(let field), .constant(let constant)):
      return .condition(.document(field: field, path: [], .contains(try DocumentCoding.operand(constant))))
    case (.part(let field, let path), .constant(let constant)):
      return .condition(.document(field: field, path: path, .contains(try DocumentCoding.operand(constant))))
    case (let sequence, .field(let field)):
      guard let values = sequence.values else { throw translation.unsupported(self) }
      return .condition(.isIn(field: field, values))
    default: throw translation.unsupported(self)
    }
  }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    guard case .constant(let constant) = try translation.term(range),
      let bounds = constant as? any ValueBounds,
      let node = bounds.condition(on: try translation.field(element))
    else { throw translation.unsupported(self) }
    return .condition(node)
  }
}

extension PredicateExpressions.ClosedRange: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    guard let lower = try translation.term(lower).value, let upper = try translation.term(upper).value else {
      throw translation.unsupported(self)
    }
    return .constant(StoredBounds(lower: lower, upper: upper, includesUpper: true))
  }
}

extension PredicateExpressions.Range: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    guard let lower = try translation.term(lower).value, let upper = try translation.term(upper).value else {
      throw translation.unsupported(self)
    }
    return .constant(StoredBounds(lower: lower, upper: upper, includesUpper: false))
  }
}

/// A range of any kind whose bounds can be stored.
private protocol ValueBounds {
  func condition(on field: String) -> PredicateNode?
}

private struct StoredBounds: ValueBounds, Sendable {
  var lower: PersistentValue?
  var upper: PersistentValue?
  var includesUpper: Bool

  func condition(on field: String) -> PredicateNode? {
    var nodes: [PredicateNode] = []
    if let lower { nodes.append(.comparison(field: field, .greaterOrEqual, lower)) }
    if let upper { nodes.append(.comparison(field: field, includesUpper ? .lessOrEqual : .less, upper)) }
    return .all(nodes)
  }
}

extension ValueBounds {
  fileprivate func bounds(_ lower: Any?, _ upper: Any?, includesUpper: Bool, on field: String)
    -> PredicateNode?
  {
    let stored = StoredBounds(
      lower: lower.flatMap(PredicateTerm.value), upper: upper.flatMap(PredicateTerm.value),
      includesUpper: includesUpper)
    guard (lower == nil) == (stored.lower == nil), (upper == nil) == (stored.upper == nil) else { return nil }
    return stored.condition(on: field)
  }
}

extension ClosedRange: ValueBounds {
  fileprivate func condition(on field: String) -> PredicateNode? {
    bounds(lowerBound, upperBound, includesUpper: true, on: field)
  }
}

extension Range: ValueBounds {
  fileprivate func condition(on field: String) -> PredicateNode? {
    bounds(lowerBound, upperBound, includesUpper: false, on: field)
  }
}

extension PartialRangeFrom: ValueBounds {
  fileprivate func condition(on field: String) -> PredicateNode? {
    bounds(lowerBound, nil, includesUpper: true, on: field)
  }
}

extension PartialRangeThrough: ValueBounds {
  fileprivate func condition(on field: String) -> PredicateNode? {
    bounds(nil, upperBound, includesUpper: true, on: field)
  }
}

extension PartialRangeUpTo: ValueBounds {
  fileprivate func condition(on field: String) -> PredicateNode? {
    bounds(nil, upperBound, includesUpper: false, on: field)
  }
}
