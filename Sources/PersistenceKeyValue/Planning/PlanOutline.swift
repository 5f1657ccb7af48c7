import PersistenceDriver

/// A plan but for its values, of requests whose conditions all together decide one range of keys.
///
/// It takes the values of a request as they are. Planning splits the condition by field, and joins it again, which takes
/// longer than reading ten records.
final class PlanOutline: Sendable {
  /// The plan without its range and its condition.
  private let valueless: AccessPlan
  /// A condition, as its position in the predicate.
  private struct Condition {
    let position: Int
    let comparison: ComparisonOperator
  }

  /// The conditions that the first components are equal by.
  private let equals: [Condition]
  /// The conditions that bound the next component.
  private let lower: Condition?
  private let upper: Condition?

  /// The outline of a request's plan; nil if other values may need a plan that differs in more than values.
  init?(_ plan: AccessPlan, of request: FetchRequest) {
    guard plan.ranges.count == 1, plan.residual == nil, plan.anchor == nil, plan.intersected.isEmpty,
      let conditions = Self.comparisons(in: request.predicate)
    else { return nil }
    var equals: [Condition] = []
    var (lower, upper): (Condition?, Condition?) = (nil, nil)
    for component in plan.components {
      let name = StoredName(component)
      let own = conditions.indices.filter { conditions[$0].field == name }
      if own.count == 1, conditions[own[0]].comparison == .equal {
        equals.append(Condition(position: own[0], comparison: .equal))
        continue
      }
      // Of two bounds on one side, the values decide which one counts.
      for position in own {
        let condition = Condition(position: position, comparison: conditions[position].comparison)
        switch condition.comparison {
        case .greater, .greaterOrEqual:
          guard lower == nil else { return nil }
          lower = condition
        case .less, .lessOrEqual:
          guard upper == nil else { return nil }
          upper = condition
        case .equal, .notEqual: return nil
        }
      }
      break
    }
    let used = Set((equals + [lower, upper].compactMap { $0 }).map(\.position))
    guard used.count == conditions.count else { return nil }
    var valueless = plan
    valueless.ranges = []
    valueless.native = nil
    (self.valueless, self.equals, self.lower, self.upper) = (valueless, equals, lower, upper)
    guard let range = range(of: request), self.plan(of: request, range) == plan else { return nil }
  }

  var path: AccessPlan.Path { valueless.path }
  var indexedComponents: Int { valueless.indexedComponents }
  var isReversed: Bool { valueless.isReversed }
  var isOrdered: Bool { valueless.isOrdered }

  /// The plan of a request of the same shape, whose range this is.
  func plan(of request: FetchRequest, _ range: AccessPlan.Range) -> AccessPlan {
    var made = valueless
    made.ranges = [range]
    made.native = request.predicate
    return made
  }

  /// The range of a request of the same shape; nil if its values leave an empty one.
  ///
  /// No residual condition is evaluated, so the rows are right only if conditions of one shape differ in values alone.
  func range(of request: FetchRequest) -> AccessPlan.Range? {
    var range = AccessPlan.Range()
    for condition in equals {
      guard let bound = Self.bound(condition, of: request) else { return nil }
      range.equals.append(bound.value)
    }
    guard lower != nil || upper != nil else { return range }
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
    return range
  }

  /// The value of a condition, and whether the condition includes it; nil if the request compares otherwise.
  private static func bound(_ condition: Condition, of request: FetchRequest) -> AccessPlan.Bound? {
    guard let predicate = request.predicate else { return nil }
    var node = predicate
    if case .all(let nodes) = predicate {
      guard condition.position < nodes.count else { return nil }
      node = nodes[condition.position]
    }
    guard case .comparison(_, condition.comparison, let value) = node else { return nil }
    switch condition.comparison {
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
