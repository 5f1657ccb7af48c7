import Foundation
import PersistenceDriver

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    guard case .text(let needle)? = try translation.term(other).value else {
      throw translation.unsupported(self)
    }
    return .condition(
      .text(field: try translation.field(base), .contains, needle, isCaseInsensitive: false))
  }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    guard case .text(let needle)? = try translation.term(prefix).value else {
      throw translation.unsupported(self)
    }
    return .condition(
      .text(field: try translation.field(base), .hasPrefix, needle, isCaseInsensitive: false))
  }
}

extension PredicateExpressions.SequenceContains: TranslatableExpression {
  func term(in translation: PredicateTranslation) throws -> PredicateTerm {
    guard let values = try translation.term(sequence).values else { throw translation.unsupported(self) }
    return .condition(.isIn(field: try translation.field(element), values))
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
