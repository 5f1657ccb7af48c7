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
    case .model: return .field(translation.name(of: keyPath))
    case .field(let field) where (keyPath as AnyKeyPath) == \String.isEmpty:
      return .condition(.comparison(field: field, .equal, .text("")))
    default: throw translation.unsupported(self)
    }
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
