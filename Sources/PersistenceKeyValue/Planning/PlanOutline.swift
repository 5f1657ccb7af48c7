import PersistenceDriver

/// A plan but for its values, of requests whose conditions all together decide one range of keys.
///
/// It takes the values of a request as they are. Planning splits the condition by field, and joins it again, which takes
/// longer than reading ten records.
final class PlanOutline: Sendable {
  /// The plan without its range and its condition.
  private let valueless: AccessPlan
  /// The conditions that the first components are equal by, as positions in the predicate.
  private let equals: [Int]
  /// The conditions that bound the next component.
  private let lower: Int?
  private let upper: Int?

  /// The outline of a request's plan; nil if other values may need a plan that differs in more than values.
  init?(_ plan: AccessPlan, of request: FetchRequest) {
    guard plan.ranges.count == 1, plan.residual == nil, plan.anchor == nil, plan.intersected.isEmpty,
      let conditions = Self.comparisons(in: request.predicate)
    else { return nil }
    var equals: [Int] = []
    var (lower, upper): (Int?, Int?) = (nil, nil)
    for component in plan.components {
      let name = StoredName(component)
      let own = conditions.indices.filter { conditions[$0].field == name }
      if own.count == 1, conditions[own[0]].comparison == .equal {
        equals.append(own[0])
        continue
      }
      // Of two bounds on one side, the values decide which one counts.
      for number in own {
        switch conditions[number].comparison {
        case .greater, .greaterOrEqual:
          guard lower == nil else { return nil }
          lower = number
        case .less, .lessOrEqual:
          guard upper == nil else { return nil }
          upper = number
        case .equal, .notEqual: return nil
        }
      }
      break
    }
    let used = Set(equals + [lower, upper].compactMap { $0 })
    guard used.count == conditions.count else { return nil }
    var valueless = plan
    valueless.ranges = []
    valueless.native = nil
    (self.valueless, self.equals, self.lower, self.upper) = (valueless, equals, lower, upper)
    guard self.plan(of: request) == plan else { return nil }
  }

  /// The plan of a request of the same shape; nil if its values leave an empty range.
  func plan(of request: FetchRequest) -> AccessPlan? {
    var range = AccessPlan.Range()
    for number in equals {
      guard let bound = Self.bound(number, of: request) else { return nil }
      range.equals.append(bound.value)
    }
    if lower != nil || upper != nil {
      // A comparison never matches nil, which sorts first.
      var start = AccessPlan.Bound(.null, isInclusive: false)
      var end: AccessPlan.Bound?
      if let lower {
        guard let bound = Self.bound(lower, of: request) else { return nil }
        start = bound
      }
      if let upper {
        guard let bound = Self.bound(upper, of: request) else { return nil }
        let order = PersistentValue.compare(start.value, bound.value)
        guard order < 0 || (order == 0 && start.isInclusive && bound.isInclusive) else { return nil }
        end = bound
      }
      range.next = .bounds(lower: start, upper: end)
    }
    var made = valueless
    made.ranges = [range]
    made.native = request.predicate
    return made
  }

  /// The value of a condition, and whether the condition includes it.
  private static func bound(_ number: Int, of request: FetchRequest) -> AccessPlan.Bound? {
    guard let predicate = request.predicate else { return nil }
    var node = predicate
    if case .all(let nodes) = predicate {
      guard number < nodes.count else { return nil }
      node = nodes[number]
    }
    guard case .comparison(_, let comparison, let value) = node else { return nil }
    switch comparison {
    case .lessOrEqual, .greaterOrEqual: return AccessPlan.Bound(value, isInclusive: true)
    default: return AccessPlan.Bound(value, isInclusive: false)
    }
  }

  /// The conditions of a predicate that is a comparison, or a conjunction of comparisons; nil if it is another one.
  private static func comparisons(in predicate: PredicateNode?) -> [(
    field: StoredName, comparison: ComparisonOperator
  )]? {
    guard let predicate else { return [] }
    var nodes = [predicate]
    if case .all(let conjuncts) = predicate { nodes = conjuncts }
    var found: [(field: StoredName, comparison: ComparisonOperator)] = []
    for node in nodes {
      guard case .comparison(let field, let comparison, _) = node else { return nil }
      found.append((StoredName(field), comparison))
    }
    return found
  }
}
