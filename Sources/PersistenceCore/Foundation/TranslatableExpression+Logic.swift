import Foundation
import PersistenceDriver

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
