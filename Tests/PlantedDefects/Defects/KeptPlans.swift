import PersistenceConformance
import PersistenceCore

extension PlantedDefect {
  /// V6: plans that are kept for more requests than those of their shape.
  static let keptPlans: [PlantedDefect] = [
    PlantedDefect("a kept plan compares by the operator of an earlier request", .v6) { flaw in
      let plans = Remembered<[String: [ComparisonOperator]]>([:])
      flaw.request = { request in
        guard let predicate = request.predicate, !request.isPlannedAnew else { return request }
        let shape = "\(request.schema.name) \(predicate.withoutOperators.shape)"
        let own = predicate.operators
        let kept = plans.change { plans in
          let kept = plans[shape] ?? own
          plans[shape] = kept
          return kept
        }
        var left = kept[...]
        return try request.mappingLeaves { leaf in
          guard case .comparison(let field, _, let value) = leaf, let first = left.popFirst() else {
            return leaf
          }
          return .comparison(field: field, first, value)
        }
      }
    }
  ]
}

extension PredicateNode {
  /// The operators of the comparisons with values, in order.
  fileprivate var operators: [ComparisonOperator] {
    var operators: [ComparisonOperator] = []
    _ = mapped { leaf in
      if case .comparison(_, let comparison, _) = leaf { operators.append(comparison) }
      return leaf
    }
    return operators
  }

  /// The predicate without what the kept plans fail to tell apart: which order, and which equality, a comparison is.
  fileprivate var withoutOperators: PredicateNode {
    mapped { leaf in
      guard case .comparison(let field, let comparison, let value) = leaf else { return leaf }
      return .comparison(field: field, comparison.isOrdering ? .less : .equal, value)
    }
  }
}
